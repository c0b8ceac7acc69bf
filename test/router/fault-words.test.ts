/**
 * The router, platform and OpenAI-compatible APIs share one table of errors. Each API names its own contract, headers
 * and fields in its responses.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { Fault, type FaultData, type FaultDetail } from '../../domain/records/fault.ts'
import { type ErrorCode, errorCodes } from '../../generated/router/errors.ts'
import { hintsOf } from '../../handlers/faults/hints.ts'
import { LocatedFault } from '../../handlers/faults/located-fault.ts'
import { compatPlaces, routerPlaces } from '../../handlers/faults/places.ts'
import { messageOf } from '../../handlers/faults/table.ts'
import { createFaultWriter, type FaultSurface } from '../../handlers/faults/writer.ts'
import { codeOfFault } from '../../handlers/realtime/faults.ts'
import { Refusal, type RefusalKind } from '../../runtime/engine/handler.ts'
import { silent } from '../store/cluster.ts'

const router: FaultSurface = {
  log: silent,
  count: () => {},
  headerPrefix: 'Service',
  contract: '/router/openapi.json',
  hasIdempotencyKeys: true,
  places: routerPlaces,
}
const compat: FaultSurface = {
  ...router,
  headerPrefix: 'Acme',
  contract: '/openapi/compat.json',
  hasIdempotencyKeys: false,
  places: compatPlaces,
}

type Shown = { code: ErrorCode; param?: string; hint: string }
const written = (surface: FaultSurface, error: unknown) =>
  (JSON.parse(createFaultWriter(surface)(error, 'req_1').body) as { error: Shown }).error
const refused = (surface: FaultSurface, kind: RefusalKind, param?: string) =>
  written(surface, new Refusal(kind, param === undefined ? {} : { param }))

t.test('the hint of an error names the contract of the API that answers', (t) => {
  t.match(refused(router, 'not_found').hint, 'the contract at /router/openapi.json;')
  t.match(refused(compat, 'not_found').hint, 'the contract at /openapi/compat.json;')
  t.end()
})

t.test('no error asks for a header that its API does not accept', (t) => {
  for (const code of ['provider_error', 'request_timeout', 'relay_error', 'budget_exhausted'] as const) {
    t.match(hintsOf(router)[code], 'with a new Idempotency-Key', code)
    t.notMatch(hintsOf(compat)[code], 'Idempotency-Key', code)
  }
  t.match(hintsOf(compat).provider_error, /^Send the request again; attempts/)
  t.match(written(router, new Error('a defect')).hint, 'with a new Idempotency-Key')
  t.notMatch(written(compat, new Error('a defect')).hint, 'Idempotency-Key')
  t.end()
})

t.test('the hints in answers are the hints of the error table', (t) => {
  const hints = hintsOf({ contract: 'openapi.json', hasIdempotencyKeys: true })
  for (const [code, { hint }] of Object.entries(errorCodes)) t.equal(hints[code as ErrorCode], hint, code)
  t.end()
})

t.test("header names in error messages have the operator's prefix", (t) => {
  for (const [param, shown] of [
    ['x-service-intent', 'x-acme-intent'],
    ['X-Service-Language', 'X-Acme-Language'],
    ['/x-service-intent', '/x-service-intent'],
    ['/model', '/model'],
  ] as const) {
    t.equal(refused(compat, 'invalid_parameter', param).param, shown)
    t.equal(written(compat, new LocatedFault(new Fault({ kind: 'bad_language_tag' }), param)).param, shown)
  }
  t.end()
})

t.test('an error names a routing filter by its field in the request', (t) => {
  const allowed = new Fault({ kind: 'none_allowed', stage: 'stt' })
  t.equal(written(router, allowed).param, '/routing/allow_providers')
  t.equal(written(compat, allowed).param, '/constraints/allowedProviders')
  const language = new Fault({ kind: 'language_unsupported', tag: 'de', stage: 'stt', pinned: false })
  t.equal(written(compat, language).param, undefined)
  t.end()
})

/**
 * Each error with its response in every API, from fault-answers.json. A change in that file is a change of the
 * contract.
 */
type Golden = {
  data: FaultData
  detail?: FaultDetail
  router: object
  compat: object
  realtime: { code: string; message?: string }
}

t.test('each fault has the answers in fault-answers.json', (t) => {
  const golden = JSON.parse(readFileSync(new URL('./fault-answers.json', import.meta.url), 'utf8')) as Golden[]
  t.same([...new Set(golden.map(({ data }) => data.kind))].sort(), Object.keys(codeOfFault).sort(), 'every kind')
  const answer = (surface: FaultSurface, fault: Fault) => {
    const { status, headers, body } = createFaultWriter(surface)(fault, 'req_1')
    return { status, headers, body: JSON.parse(body) as object }
  }
  for (const { data, detail, ...answers } of golden) {
    const fault = new Fault(data, detail)
    t.same(answer(router, fault), answers.router, `router ${JSON.stringify(data)}`)
    t.same(answer(compat, fault), answers.compat, `compat ${JSON.stringify(data)}`)
    const message = messageOf(data)
    const realtime = { code: codeOfFault[data.kind], ...(message !== undefined && { message }) }
    t.same(realtime, answers.realtime, `realtime ${JSON.stringify(data)}`)
  }
  t.end()
})
