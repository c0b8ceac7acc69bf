/** One table of faults, said by several surfaces: each names its own contract, headers and fields. */
import t from 'tap'
import { Fault, type FaultDetail } from '../../domain/fault.ts'
import { createFaultWriter, type FaultSurface } from '../../handlers/router/envelope.ts'
import { silent } from '../store/cluster.ts'

const router: FaultSurface = {
  log: silent,
  count: () => {},
  headerPrefix: 'Service',
  contract: '/router/openapi.json',
  hasIdempotencyKeys: true,
  paramOfFilter: { not_allowed: '/routing/allow_providers' },
}
const compat: FaultSurface = {
  ...router,
  headerPrefix: 'Acme',
  contract: '/openapi/compat.json',
  hasIdempotencyKeys: false,
  paramOfFilter: { not_allowed: '/constraints/allowedProviders' },
}

type Told = { error: { param?: string; hint: string } }
const say = (surface: FaultSurface, code: Fault['code'], detail: FaultDetail = {}) =>
  (JSON.parse(createFaultWriter(surface)(new Fault(code, detail), 'req_1').body) as Told).error

t.test('the contract is the surface’s own', (t) => {
  t.match(say(router, 'not_found').hint, 'the contract at /router/openapi.json;')
  t.match(say(compat, 'not_found').hint, 'the contract at /openapi/compat.json;')
  t.end()
})

t.test('no surface asks for a header that it does not take', (t) => {
  for (const code of ['provider_error', 'request_timeout', 'relay_error', 'budget_exhausted'] as const) {
    t.match(say(router, code).hint, 'with a new Idempotency-Key', code)
    t.notMatch(say(compat, code).hint, 'Idempotency-Key', code)
  }
  t.match(say(compat, 'provider_error').hint, /^Send the request again; attempts/)
  t.end()
})

t.test('headers carry the deployer’s prefix', (t) => {
  for (const [param, told] of [
    ['x-service-intent', 'x-acme-intent'],
    ['X-Service-Language', 'X-Acme-Language'],
    ['/x-service-intent', '/x-service-intent'],
    ['/model', '/model'],
  ] as const)
    t.equal(say(compat, 'invalid_parameter', { param }).param, told)
  t.end()
})

t.test('a filter is named by the field that it came in', (t) => {
  t.equal(say(router, 'capability_unsupported', { filter: 'not_allowed' }).param, '/routing/allow_providers')
  t.equal(say(compat, 'capability_unsupported', { filter: 'not_allowed' }).param, '/constraints/allowedProviders')
  t.equal(say(compat, 'capability_unsupported', { filter: 'language' }).param, undefined)
  t.end()
})
