/** The behaviour of the files generated from mini.openapi.yaml. generate.test.ts keeps them up to date. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { ContractValidators, type Validator } from '../../codegen/contract-validators.ts'
import { withNoStore } from '../../codegen/no-store.ts'
import type { Context, Handlers } from '../../runtime/engine/handler.ts'
import type { Validate } from '../../runtime/engine/operation.ts'
import { validateConfig } from './golden/config/validator.ts'
import { miniContract } from './golden/mini/contract.ts'
import { errorCodes } from './golden/mini/errors.ts'
import { type MiniHandlers, widenMiniHandlers } from './golden/mini/handlers.ts'
import { miniSurface } from './golden/mini/routes.ts'
import type { Thing, ThingInput } from './golden/mini/types.ts'
import * as validators from './golden/mini/validators.ts'

const answers = new ContractValidators(miniContract)
const circle = { kind: 'circle', radius: 2 }

/** Returns the first error as `pointer keyword`, or null for a valid value. */
function complaint(validate: Validate | Validator | null | undefined, value: unknown): string | null {
  if (!validate) return 'no validator'
  if (validate(value)) return null
  const [error] = validate.errors ?? []
  return `${error?.instancePath} ${error?.keyword} ${Object.values(error?.params ?? {}).join(' ')}`.trim()
}

t.test('the discriminator of a union selects the variant, and errors point into that variant', (t) => {
  const thing = (shape: unknown) => ({ name: 'ball', secret: 'hush', shape })
  t.equal(complaint(validators.createThingBody, thing(circle)), null)
  t.equal(complaint(validators.createThingBody, thing({ kind: 'circle', radius: '2' })), '/shape/radius type number')
  t.equal(
    complaint(validators.createThingBody, thing({ kind: 'square', side: 1, radius: 2 })),
    '/shape additionalProperties radius',
  )
  t.equal(complaint(validators.createThingBody, thing({ kind: 'cone' })), '/shape discriminator mapping kind cone')
  t.equal(complaint(validators.createThingBody, thing({ radius: 1 })), '/shape discriminator tag kind')
  t.end()
})

t.test('defaults are filled in behind references and in union variants, but only in requests', (t) => {
  const thing = { name: 'ball', secret: 'hush', shape: { ...circle } }
  t.ok(validators.createThingBody(thing))
  t.same(thing, { name: 'ball', secret: 'hush', level: 'low', shape: { ...circle, filled: true } })
  const params = { path: {}, query: {}, header: {} }
  t.ok(validators.listThingsParams(params))
  t.same(params.query, { limit: 20, level: 'low' })
  const answer = { id: 'thing_1', name: 'ball', shape: { ...circle } }
  t.equal(complaint(answers.answer('getThing', '200'), answer), null)
  t.same(answer, { id: 'thing_1', name: 'ball', shape: circle })
  t.end()
})

t.test('a value of a wrong type is refused and not coerced', (t) => {
  const params = (query: object) => ({ path: {}, query, header: {} })
  t.equal(complaint(validators.listThingsParams, params({ limit: '5' })), '/query/limit type integer')
  t.equal(complaint(validators.listThingsParams, params({ tag: 'a' })), '/query/tag type array')
  t.equal(complaint(validators.listThingsParams, params({ archived: 'true' })), '/query/archived type boolean')
  t.equal(complaint(validators.listThingsParams, params({ limit: 5, tag: ['a'], archived: true })), null)
  t.end()
})

t.test('readOnly fields do not exist in a request, and writeOnly fields not in an answer', (t) => {
  const request = { name: 'ball', secret: 'hush', shape: circle }
  t.equal(complaint(validators.createThingBody, { ...request }), null)
  t.equal(complaint(validators.createThingBody, { ...request, id: 'thing_1' }), 'additionalProperties id')
  t.equal(complaint(validators.createThingBody, { name: 'ball', shape: circle }), 'required secret')
  const answer = { id: 'thing_1', name: 'ball', shape: circle }
  t.equal(complaint(answers.answer('createThing', '201'), answer), null)
  t.equal(complaint(answers.answer('createThing', '201'), { ...answer, secret: 'hush' }), 'additionalProperties secret')
  t.equal(complaint(answers.answer('createThing', '201'), { name: 'ball', shape: circle }), 'required id')
  t.equal(complaint(answers.payload('thing.changed'), answer), null, 'a webhook is ours to send')
  t.equal(complaint(validators.onThingChangedAnswer, { ...request }), null, 'this answer comes from outside')
  t.equal(complaint(validators.onThingChangedAnswer, answer), 'required secret')
  t.end()
})

t.test('a recursive schema is checked at every depth, formats included', (t) => {
  const tree = (leaf: object) => ({ name: 'root', branches: [{ name: 'twig', branches: [leaf] }] })
  t.equal(complaint(validators.uploadThingBody, tree({ name: 'leaf', branches: [] })), null)
  t.equal(complaint(validators.uploadThingBody, tree({ name: 'leaf' })), '/branches/0/branches/0 required branches')
  t.equal(
    complaint(validators.uploadThingBody, tree({ name: 'leaf', branches: [], planted: 'May' })),
    '/branches/0/branches/0/planted format date-time',
  )
  t.end()
})

t.test('the route table limits a header in bytes, and the validator limits it in code points', (t) => {
  const header = miniSurface.operations.find(({ id }) => id === 'createThing')?.headers[0]
  t.same(header, { name: 'Idempotency-Key', required: true, bytesMax: 8 })
  const params = (key: string) => ({ path: {}, query: {}, header: { 'idempotency-key': key } })
  t.equal(complaint(validators.createThingParams, params('ééééé')), null, '5 code points, 10 bytes')
  t.equal(complaint(validators.createThingParams, params('123456789')), '/header/idempotency-key maxLength 8')
  t.equal(complaint(validators.createThingParams, params('😀'.repeat(8))), null, '8 code points, 16 UTF-16 units')
  t.equal(complaint(validators.createThingParams, params('😀'.repeat(9))), '/header/idempotency-key maxLength 8')
  t.equal(complaint(validators.createThingParams, params('')), '/header/idempotency-key minLength 1')
  t.end()
})

t.test('the route table marks headers with JSON, and the validator checks the JSON by its schema', (t) => {
  const headers = miniSurface.operations.find(({ id }) => id === 'listThings')?.headers
  t.same(headers, [{ name: 'Thing-Shape', required: false, bytesMax: 64, isJson: true }])
  const params = (shape: unknown) => ({ path: {}, query: {}, header: { 'thing-shape': shape } })
  const given = params({ ...circle })
  t.equal(complaint(validators.listThingsParams, given), null)
  t.same(given.header, { 'thing-shape': { ...circle, filled: true } })
  t.equal(
    complaint(validators.listThingsParams, params({ ...circle, radius: '2' })),
    '/header/thing-shape/radius type number',
  )
  t.end()
})

t.test('each event of a stream has its validator', (t) => {
  const events = answers.events('streamThing', '200') ?? {}
  t.same(Object.keys(events), ['thing.delta', 'thing.completed', 'error'])
  t.equal(complaint(events['thing.delta'], { text: 'ro' }), null)
  t.equal(complaint(events['thing.delta'], {}), 'required text')
  t.end()
})

t.test('the route table lists the methods of each path for 405 answers and OPTIONS', (t) => {
  const rules = new Map(miniSurface.paths.map((rule) => [rule.pattern, rule]))
  t.equal(rules.get('/v1/things')?.allow, 'GET, HEAD, POST, OPTIONS')
  t.equal(rules.get('/v1/things/known')?.allow, 'GET, HEAD, OPTIONS')
  t.equal(rules.get('/v1/things/:id')?.allow, 'GET, HEAD, DELETE, OPTIONS')
  t.end()
})

t.test(
  'the served contract is the document as it was written, plus a header that forbids any caching of answers',
  (t) => {
    const spec = readFileSync(join(import.meta.dirname, 'mini.openapi.yaml'), 'utf8')
    t.same(JSON.parse(miniContract), withNoStore(parse(spec) as object))
    t.end()
  },
)

t.test('an error code that occurs only in streams has no HTTP status in the error table', (t) => {
  t.equal(errorCodes.broken.status, 500)
  t.equal(errorCodes.stopped.status, null)
  t.same(errorCodes.stopped.headers, ['Retry-After'])
  t.end()
})

t.test('an empty configuration gets every default', (t) => {
  const config = {}
  t.ok(validateConfig(config))
  t.same(config, { port: 8080, databaseUrl: null, limits: { jsonBytesMax: 1024 }, names: [] })
  t.equal(complaint(validateConfig, { limits: { jsonBytes: 1 } }), '/limits additionalProperties jsonBytes')
  t.end()
})

/** The compiler tests the rest: if it accepts the line below an `@ts-expect-error`, the type check fails. */
type Caller = { organization: string }
async function* deltas() {
  await Promise.resolve()
  yield { event: 'thing.delta' as const, data: { text: 'ro' } }
}
const shape = { kind: 'circle' as const, radius: 2, filled: true }
const handlers: MiniHandlers<Caller> = {
  getHealth: (_request, context: Context<null>) => ({ status: 200, body: { status: String(context.caller) } }),
  listThings: ({ query, header }) => ({
    status: 200,
    body: [{ id: query.level, name: String(query.limit), shape: header['thing-shape'] ?? shape }],
  }),
  createThing: ({ body, header }) => ({
    status: 201,
    headers: { 'Thing-Version': 1 },
    body: { id: header['idempotency-key'], name: body.secret, shape: body.shape },
  }),
  getThing: ({ path }) => ({ status: 200, body: { id: path.id, name: 'ball', shape } }),
  deleteThing: () => ({ status: 204 }),
  listKnownThings: (_request, { caller }) => ({ status: 200, body: [caller.organization] }),
  uploadThing: ({ body }) => ({ status: 200, body: body.audio.chunks[0] ?? new Uint8Array() }),
  streamThing: ({ body }) =>
    body.stream
      ? { status: 200, type: 'text/event-stream', body: deltas() }
      : { status: 200, type: 'application/json', body: { name: 'root', branches: [] } },
}

t.test('the compiler refuses handlers that break the contract', (t) => {
  const engine: Handlers = widenMiniHandlers(handlers)
  t.same(Object.keys(engine).sort(), miniSurface.operations.map(({ id }) => id).sort())
  const { getThing, ...rest } = handlers
  const mistakes = [
    // @ts-expect-error a handler is missing
    (): MiniHandlers<Caller> => rest,
    // @ts-expect-error the required header Thing-Version is missing
    (): MiniHandlers<Caller>['createThing'] => () => ({ status: 201, body: { id: '1', name: 'ball', shape } }),
    // @ts-expect-error name is missing in the body
    (): MiniHandlers<Caller>['getThing'] => () => ({ status: 200, body: { id: '1', shape } }),
    // @ts-expect-error 418 is not in the contract
    (): MiniHandlers<Caller>['deleteThing'] => () => ({ status: 418 }),
    // @ts-expect-error an answer has no writeOnly field
    (answer: Thing): unknown => answer.secret,
    // @ts-expect-error a request has no readOnly field
    (): ThingInput => ({ id: 'thing_1', name: 'ball', secret: 'hush', shape }),
    // @ts-expect-error two media types, so the result must have a type
    (): MiniHandlers<Caller>['streamThing'] => () => ({ status: 200, body: { name: 'root', branches: [] } }),
    // @ts-expect-error there is no event with this name
    (): MiniHandlers<Caller>['streamThing'] => () => ({
      status: 200,
      type: 'text/event-stream',
      body: [{ event: 'thing.grown', data: {} }],
    }),
    // @ts-expect-error an error is thrown, not returned
    (): MiniHandlers<Caller>['createThing'] => () => ({ status: 400, body: { error: {} } }),
  ]
  t.type(getThing, 'function')
  t.equal(mistakes.length, 9)
  t.end()
})
