/** checkProvider over the public API: whose key is sent, each outcome, and the limits. */
import t from 'tap'
import { until } from '../process/machine.ts'
import { holding, startStubOpenAi } from '../providers/stub-openai.ts'
import type { Target } from '../router/requests.ts'
import {
  answer,
  call,
  faultOf,
  pinned,
  platformKey,
  putKey,
  seen,
  startOwnAdministered,
  stubProviders,
} from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const models = { llm: ['chat'] }
const { parley, admin } = await startOwnAdministered(t, {
  PARLEY_PROVIDERS: stubProviders(stub, [
    // No server listens on the tcpmux port.
    { id: 'gone', adapter: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'key', models },
    { id: 'keyless', adapter: 'openai', baseUrl: `${stub.url}/keyless/v1`, models },
  ]),
  PARLEY_CIRCUIT_FAILURES_MAX: '1',
})

const check = (target: Target, provider: string) => call(target, 'POST', `/v1/providers/${provider}/check`)
const checked = async (target: Target, provider: string) => (await check(target, provider)).json<object>()
// The stub is not at the address of a vendor, so it may show its models to everyone.
const accepted = {
  ...{ ok: true, outcome: 'succeeded', proves: 'address', providerStatus: 200 },
  message: 'The server answers. It may show its models to everyone, so this does not prove the key.',
}

t.test("checkProvider sends the organization's key, or without one the server's key", async (t) => {
  const acme = await admin.organization('that checks', { scopes: ['platform', 'admin'] })
  stub.requests.length = 0
  const result = await checked(acme, 'main')
  t.match(result, accepted)
  t.same(Object.keys(result).sort(), ['durationMs', 'message', 'ok', 'outcome', 'proves', 'providerStatus'])
  await putKey(acme, 'main', 'key-of-acme')
  t.match(await checked(acme, 'main'), accepted)
  t.match(await checked(acme, 'keyless'), accepted)
  t.same(seen(stub.requests), [`main ${platformKey}`, 'main key-of-acme', 'keyless '])
  t.match(stub.requests, [{ method: 'GET', path: '/main/v1/models' }, {}, {}])
  const log = await call(acme, 'GET', '/v1/audit-events?action=provider_key.checked')
  const target = { type: 'provider_key', id: 'main', name: null }
  t.match(log.json<{ events: object[] }>().events, [{ target: { id: 'keyless' } }, { target }, { target }])
})

t.test(
  'checkProvider says why a provider does not accept the key, and shows neither the key nor the answer',
  async (t) => {
    const acme = await admin.organization('refused')
    await putKey(acme, 'other', 'key-canary')
    const rows = [
      [{ kind: 'status', status: 401, code: 'invalid_api_key' }, 'auth', 401],
      [{ kind: 'status', status: 403 }, 'auth', 403],
      [{ kind: 'status', status: 429, code: 'insufficient_quota' }, 'quota', 429],
      [{ kind: 'status', status: 429 }, 'rate_limited', 429],
      [{ kind: 'status', status: 503 }, 'overloaded', 503],
      [{ kind: 'status', status: 500 }, 'server', 500],
      [{ kind: 'status', status: 404 }, 'bad_request', 404],
      [{ kind: 'error_body', code: 'invalid_api_key' }, 'auth', 200],
      [{ kind: 'garbage' }, 'protocol', 200],
      [{ kind: 'cut' }, 'protocol', null],
    ] as const
    for (const [behaviour, outcome, providerStatus] of rows) {
      stub.behave(behaviour)
      const { status, text, json } = await check(acme, 'other')
      t.equal(status, 200, outcome)
      t.match(json(), { ok: false, outcome, proves: null, message: /^(The|This) /, providerStatus })
      t.notMatch(text, /canary|the vendor says no/)
    }
    t.match(await checked(acme, 'gone'), { ok: false, outcome: 'unreachable', providerStatus: null })
    t.match(parley.output(), /"outcome":"unreachable".*provider check failed/)
    t.notMatch(parley.output(), /canary/)
  },
)

t.test('checkProvider costs nothing, and a refused key does not pause the provider', async (t) => {
  const acme = await admin.organization('billed for nothing', { scopes: ['router', 'platform', 'admin'] })
  for (let checks = 0; checks < 3; checks++) {
    stub.behave({ kind: 'status', status: 401, code: 'invalid_api_key' })
    t.match(await checked(acme, 'main'), { outcome: 'auth' })
  }
  const health = (await call(acme, 'GET', '/v1/providers/health')).json<{ provider: string }[]>()
  const main = health.filter(({ provider }) => provider === 'main')
  t.ok(main.length > 0)
  for (const model of main) t.match(model, { state: 'unknown', samples: 0 })
  t.match((await call(acme, 'GET', '/v1/usage')).json(), { totalCost: 0, breakdown: [] })
  t.equal((await answer(acme, pinned('main/chat'))).status, 200)
})

t.test("checkProvider does not use another organization's key", async (t) => {
  const [a, b] = [await admin.organization('a'), await admin.organization('b')]
  await putKey(a, 'other', 'key-of-a')
  stub.requests.length = 0
  const refused = await check(b, 'other')
  t.same(faultOf(refused), { status: 404, code: 'NOT_FOUND' })
  t.match(refused.json<{ error: string }>().error, /Neither this organization nor this server has a key/)
  t.same(faultOf(await check(b, 'nobody')), { status: 404, code: 'NOT_FOUND' })
  const test = await admin.key(a.id, { test: true })
  const withTestKey = await check(test, 'other')
  t.same(faultOf(withTestKey), { status: 404, code: 'NOT_FOUND' })
  t.match(withTestKey.json<{ error: string }>().error, /This is a test key/)
  t.same(seen(stub.requests), [])
  t.match(await checked(a, 'other'), accepted)
})

t.test('checkProvider is not for members', async (t) => {
  const acme = await admin.organization('with a member')
  for (const [role, status] of [
    ['member', 403],
    ['admin', 200],
  ] as const) {
    const email = `${role}@checks.example`
    await admin.store.users.create(acme.id, email, role)
    const issued = await admin.store.users.issue(acme.id, email, 'user_token')
    t.equal((await check({ url: parley.url, key: issued?.secret ?? '' }, 'main')).status, status, role)
  }
})

t.test('checkProvider refuses a provider without a free request that proves a key', async (t) => {
  const acme = await admin.organization('without a check')
  await putKey(acme, 'speechmatics', 'key-of-acme')
  for (const provider of ['local', 'speechmatics']) {
    const refused = await check(acme, provider)
    t.same(faultOf(refused), { status: 400, code: 'VALIDATION_ERROR', paths: ['/provider'] }, provider)
    t.match(refused.json<{ error: string }>().error, /without a free request that proves a key/)
  }
})

t.test('checkProvider refuses more than 30 checks a minute of an organization', async (t) => {
  const acme = await admin.organization('that checks often')
  for (let checks = 1; checks <= 30; checks++) t.equal((await check(acme, 'main')).status, 200)
  stub.requests.length = 0
  const refused = await check(acme, 'main')
  t.same(faultOf(refused), { status: 429, code: 'RATE_LIMITED' })
  t.match(refused.json<{ error: string }>().error, /checked providers too often/)
  const waitS = Number(refused.headers.get('retry-after'))
  t.ok(waitS > 1 && waitS <= 60, `Retry-After is ${waitS}`)
  t.same(seen(stub.requests), [])
  t.match(await checked(await admin.organization('beside'), 'main'), accepted, 'another organization is not limited')
})

t.test('checkProvider refuses more than 4 checks of an organization at once', async (t) => {
  const acme = await admin.organization('that checks all at once')
  const held = Array.from({ length: 4 }, () => holding())
  stub.behave(...held.map(({ behaviour }) => behaviour))
  stub.requests.length = 0
  const first = held.map(() => check(acme, 'main'))
  const sent = until('the checks are sent', () => stub.requests.length === held.length)
  const early = await Promise.race([sent, ...first.map(async (answer) => (await answer).text)])
  t.equal(early, undefined, 'no check ends before its answer is released')
  const refused = await check(acme, 'main')
  t.same(faultOf(refused), { status: 429, code: 'RATE_LIMITED' })
  t.match(refused.json<{ error: string }>().error, /4 checks of providers .* under way/)
  t.match(await checked(await admin.organization('alone'), 'main'), accepted, 'another organization is not limited')
  for (const { release } of held) release()
  for (const { json } of await Promise.all(first)) t.match(json(), accepted)
  t.match(await checked(acme, 'main'), accepted)
})
