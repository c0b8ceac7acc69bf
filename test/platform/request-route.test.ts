/** Tests the stored route of a request: its attempts, its routing choice, and which organizations can read both. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { ask, postJson, responses, send, speech } from '../router/requests.ts'
import { answer, call, pinned, platformKey, routeOf, startAdministered, stubProviders } from './setup.ts'

const stub = await startStubOpenAi()
const second = {
  id: 'second',
  adapter: 'openai',
  baseUrl: `${stub.url}/second/v1`,
  apiKey: platformKey,
  models: { llm: ['chat'], tts: ['speak'] },
}
const prices = [
  { model: 'chat', unit: 'million_input_tokens', microUsd: 2_000_000, asOf: '2026-11' },
  { model: 'chat', unit: 'million_output_tokens', microUsd: 10_000_000, asOf: '2026-11' },
]
const priced = { ...second, id: 'priced', prices }
t.teardown(() => stub.close())
const { parley, admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: stubProviders(stub, [second, priced]),
  PARLEY_CIRCUIT_FAILURES_MAX: '1000',
})

const two = { mode: 'auto', objective: 'latency', allow_providers: ['main', 'second', 'other'] }

t.test('after a failover, the route lists each attempt and the candidates in their order', async (t) => {
  const acme = await admin.organization('acme')
  stub.behave({ kind: 'status', status: 503 })
  const made = await answer(acme, two)
  t.equal(made.status, 200)
  const route = await routeOf(t, acme, made)
  const order = [route.candidate, ...route.runners_up].map((id) => id?.split(':')[0])
  t.match(route, {
    request_id: made.headers.get('service-request-id'),
    operation: 'createResponse',
    outcome: 'succeeded',
    stage: 'llm',
    objective: 'latency',
    language: null,
    catalog_digest: /^sha256:/,
    attempts: [
      { provider: order[0], outcome: 'overloaded', quantities: [], cost_micro_usd: '0', key_source: 'platform' },
      {
        provider: order[1],
        model: 'chat',
        outcome: 'succeeded',
        attempt_id: made.headers.get('service-attempt-id'),
        first_byte_ms: null,
        quantities: [
          { unit: 'input_tokens', amount: Number },
          { unit: 'cached_input_tokens', amount: 4 },
          { unit: 'output_tokens', amount: Number },
          { unit: 'reasoning_tokens', amount: 3 },
        ],
        cost_micro_usd: null,
        priced: false,
      },
    ],
  })
  t.same(new Set(order), new Set(['main', 'second']))
  t.match(
    route.excluded.find(({ provider }) => provider === 'other'),
    { reason: 'unavailable', detail: 'no_credential' },
  )
  t.match(
    route.excluded.find(({ provider }) => provider === 'local'),
    { reason: 'not_allowed' },
  )
  t.same(
    route.scores.map(({ id }) => id.split(':')[0]),
    order,
  )

  const preview = await send(acme, '/v1/routing/preview?stage=llm&language=en')
  for (const field of Object.keys(preview.json<object>())) t.ok(field in route, `${field}, as preview has it`)
})

t.test("a route shows the time of the stream's first byte, or the outcome if the request failed", async (t) => {
  const acme = await admin.organization('streaming')
  const streamed = await postJson(acme, responses, ask('Hello.', { routing: pinned('main/chat'), stream: true }))
  const { attempts, ...route } = (await routeOf(t, acme, streamed)) as Awaited<ReturnType<typeof routeOf>> & {
    first_byte_ms: number
    duration_ms: number
  }
  t.ok(route.first_byte_ms >= (attempts[0]?.first_byte_ms ?? Number.POSITIVE_INFINITY))
  t.ok(route.duration_ms >= route.first_byte_ms)

  stub.behave({ kind: 'status', status: 503 }, { kind: 'empty' })
  const failed = await postJson(acme, speech, { input: 'Hello.', routing: two })
  t.equal(failed.status, 502)
  t.match(await routeOf(t, acme, failed), {
    outcome: 'provider_error',
    cost_micro_usd: '0',
    attempts: [{ outcome: 'overloaded' }, { outcome: 'empty' }],
  })
})

t.test('an attempt at a priced model shows its price source and its cost', async (t) => {
  const acme = await admin.organization('local', { creditMicroUsd: 1000 })
  const made = await answer(acme, pinned('local/scripted'))
  t.match((await routeOf(t, acme, made)).attempts, [{ priced: true, cost_micro_usd: '0', price_source: String }])
})

t.test('an attempt at a priced model takes the cost in its route from the credit', async (t) => {
  const acme = await admin.organization('paying', { creditMicroUsd: 100_000 })
  stub.behave({ kind: 'ok', usage: { prompt_tokens: 1_000, completion_tokens: 50 } })
  const made = await answer(acme, pinned('priced/chat'))
  const route = await routeOf(t, acme, made)
  const costMicroUsd = 1_000 * 2 + 50 * 10
  t.match(route, {
    cost_micro_usd: String(costMicroUsd),
    attempts: [{ priced: true, cost_micro_usd: String(costMicroUsd), price_source: /2026-11/ }],
  })
  const credit = async () => (await call(acme, 'GET', '/v1/credits')).json<Record<string, string>>()
  await until('the reservation is given back', async () => (await credit())['reservedMicroUsd'] === '0')
  t.equal((await credit())['creditMicroUsd'], String(100_000 - costMicroUsd))
})

t.test('requests with the same candidate list share one row in the database table choices', async (t) => {
  const acme = await admin.organization('equal')
  const made = await Promise.all(Array.from({ length: 8 }, () => answer(acme, pinned('second/chat'))))
  for (const each of made) await routeOf(t, acme, each)
  const sql = openDatabase(parley)
  t.match(
    await sql`select count(*)::int as requests, count(distinct choice_id)::int as choices from requests
      where organization_id = ${acme.id}`,
    [{ requests: 8, choices: 1 }],
  )
  t.match(await sql`select count(*)::int as rows from choices where organization_id = ${acme.id}`, [{ rows: 1 }])
  await sql.end()
})

t.test("the route of another organization's request is answered 404, like an unknown request", async (t) => {
  const [a, b] = [await admin.organization('a'), await admin.organization('b')]
  const made = await answer(a, pinned('main/chat'))
  await routeOf(t, a, made)
  const path = `/v1/requests/${made.headers.get('service-request-id')}/route`
  const [others, nobodys] = [await send(b, path), await send(b, '/v1/requests/req_nobody/route')]
  t.equal(others.status, 404)
  const withoutId = (answer: typeof others) => ({ ...answer.json<object>(), requestId: null })
  t.same(withoutId(others), withoutId(nobodys))
  t.match(others.json(), { code: 'NOT_FOUND' })
  const refused = await answer(a, pinned('other/chat'))
  t.equal((await send(a, `/v1/requests/${refused.headers.get('service-request-id')}/route`)).status, 404)
  const scopeless = await admin.organization('scopeless', { scopes: ['router'] })
  t.equal((await send(scopeless, path)).status, 403)
})

t.test('`parley why` explains the route of a request', async (t) => {
  const acme = await admin.organization('asking')
  stub.behave({ kind: 'status', status: 500 })
  const made = await answer(acme, two)
  const route = await routeOf(t, acme, made)
  const why = (...args: string[]) => runCommand(parley, ['why', ...args], { PARLEY_API_KEY: acme.key })
  const shown = await why(route.request_id)
  t.equal(shown.code, 0, shown.stderr)
  t.match(shown.stdout, route.candidate)
  for (const line of [/createResponse +succeeded/, /other:chat +unavailable \(no_credential\)/, /:chat +server/])
    t.match(shown.stdout, line)
  const json = await why(route.request_id, '--json')
  t.same(JSON.parse(json.stdout), route)
  t.match(await why('req_nobody'), { code: 1, stderr: /NOT_FOUND/ })
})
