/** Tests organizations' provider keys: the attempts that use them, who pays, and isolation from other organizations. */
import t from 'tap'
import { openDatabase } from '../process/database.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { send } from '../router/requests.ts'
import {
  answer,
  deleteKey,
  listProviders,
  pinned,
  platformKey,
  putKey,
  routeOf,
  seen,
  startAdministered,
  stubProviders,
} from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const { parley, admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: stubProviders(stub),
  PARLEY_CIRCUIT_OPEN_MS: '60000',
  PARLEY_CIRCUIT_OPEN_MAX_MS: '60000',
})

const rowOf = async (target: { url: string; key: string }, id: string) =>
  (await listProviders(target)).json<{ provider: string }[]>().find(({ provider }) => provider === id)
const unauthorized = { kind: 'status', status: 401, code: 'invalid_api_key' } as const

t.test('the API key of a first local run may manage provider keys', async (t) => {
  t.equal((await listProviders(parley)).status, 200)
})

t.test('a provider key is stored, used and deleted, and is never returned', async (t) => {
  const acme = await admin.organization('acme')
  stub.requests.length = 0
  t.match(await rowOf(acme, 'main'), { stages: ['stt', 'llm', 'tts'], configured: true, source: null })
  t.match(await rowOf(acme, 'other'), { configured: false, source: null })
  t.match(await rowOf(acme, 'local'), { configured: true, source: null })
  const before = await answer(acme, pinned('other/chat'))
  t.match([before.status, before.json().error.code], [400, 'capability_unsupported'])

  const put = await putKey(acme, 'other', 'acme-own-key')
  t.equal(put.status, 200)
  t.same(put.json(), { provider: 'other', stages: ['stt', 'llm', 'tts'], configured: true, source: 'BYOK' })
  t.match(await rowOf(acme, 'other'), { configured: true, source: 'BYOK' })
  t.equal((await answer(acme, pinned('other/chat'))).status, 200, 'a provider without the operator’s credential')
  await putKey(acme, 'main', 'acme-main-key')
  t.equal((await answer(acme, pinned('main/chat'))).status, 200, 'goes before the operator’s')
  await putKey(acme, 'main', 'acme-second-key')
  t.equal((await answer(acme, pinned('main/chat'))).status, 200, 'another key takes its place at once')
  t.same(seen(stub.requests), ['other acme-own-key', 'main acme-main-key', 'main acme-second-key'])

  t.equal((await deleteKey(acme, 'main')).status, 204)
  t.equal((await deleteKey(acme, 'other')).status, 204)
  t.match(await rowOf(acme, 'main'), { configured: true, source: null })
  stub.requests.length = 0
  t.equal((await answer(acme, pinned('main/chat'))).status, 200)
  t.equal((await answer(acme, pinned('other/chat'))).status, 400)
  t.same(seen(stub.requests), [`main ${platformKey}`])
  t.match((await deleteKey(acme, 'main')).json(), { code: 'NOT_FOUND' })
})

t.test('a provider key is used only for its own organization', async (t) => {
  const [a, b] = [await admin.organization('a'), await admin.organization('b')]
  await putKey(a, 'other', 'key-of-a')
  stub.requests.length = 0
  t.match(await rowOf(b, 'other'), { configured: false, source: null })
  t.equal((await answer(b, pinned('other/chat'))).status, 400)
  t.equal((await deleteKey(b, 'other')).status, 404)
  t.equal((await answer(a, pinned('other/chat'))).status, 200)
  await putKey(b, 'other', 'key-of-b')
  t.equal((await answer(b, pinned('other/chat'))).status, 200)
  t.equal((await answer(a, pinned('other/chat'))).status, 200)
  t.same(seen(stub.requests), ['other key-of-a', 'other key-of-b', 'other key-of-a'])
})

t.test('the route preview includes a provider if the organization has stored a provider key', async (t) => {
  const acme = await admin.organization('previewing')
  const preview = async () =>
    (await send(acme, '/v1/routing/preview?stage=llm&language=en')).json<{
      candidate: string
      runners_up: string[]
      excluded: { provider: string; reason: string; detail?: string }[]
    }>()
  const without = await preview()
  t.notOk([without.candidate, ...without.runners_up].includes('other:chat'))
  t.match(
    without.excluded.find(({ provider }) => provider === 'other'),
    { reason: 'unavailable', detail: 'no_credential' },
  )
  await putKey(acme, 'other', 'key')
  const { candidate, runners_up } = await preview()
  t.ok([candidate, ...runners_up].includes('other:chat'))
})

t.test('if a provider refuses one provider key, only attempts with this key pause', async (t) => {
  const [bad, good] = [await admin.organization('bad'), await admin.organization('good')]
  for (const [who, key] of [
    [bad, 'bad-key'],
    [good, 'good-key'],
  ] as const)
    await putKey(who, 'main', key)
  const stranger = await admin.organization('stranger')
  stub.requests.length = 0
  stub.behave(unauthorized)
  t.equal((await answer(bad, pinned('main/chat'))).status, 502)
  t.match((await answer(bad, pinned('main/chat'))).json(), { error: { code: 'provider_unavailable' } }, 'cooling')
  t.equal((await answer(good, pinned('main/chat'))).status, 200)
  t.equal((await answer(stranger, pinned('main/chat'))).status, 200)
  t.same(seen(stub.requests), ['main bad-key', 'main good-key', `main ${platformKey}`])

  await t.test('the rate limit of one provider key affects no other key', async (t) => {
    for (let i = 0; i < 3; i += 1) {
      stub.behave({ kind: 'status', status: 429 })
      t.equal((await answer(good, pinned('main/chat'))).status, 429)
    }
    t.equal((await answer(good, pinned('main/chat'))).status, 503)
    t.equal((await answer(stranger, pinned('main/chat'))).status, 200)
  })

  await t.test('a replaced provider key is used at once, without a pause', async (t) => {
    await putKey(bad, 'main', 'replaced-key')
    t.equal((await answer(bad, pinned('main/chat'))).status, 200)
  })
})

t.test("if an organization's provider key fails, the request fails over to the next provider", async (t) => {
  const acme = await admin.organization('failing over')
  await putKey(acme, 'other', 'own-key')
  stub.requests.length = 0
  stub.behave({ kind: 'status', status: 500 })
  const made = await answer(acme, { mode: 'auto', allow_providers: ['other', 'main'] })
  t.equal(made.status, 200)
  t.same(
    seen(stub.requests).sort(),
    [`main ${platformKey}`, 'other own-key'],
    'the one with the own key, the other with the operator’s',
  )
  const { attempts } = await routeOf(t, acme, made)
  t.same(attempts.map(({ provider, key_source }) => `${provider} ${key_source}`).sort(), [
    'main platform',
    'other byok',
  ])
})

t.test("an attempt with an organization's provider key costs no credit", async (t) => {
  const poor = await admin.organization('poor', { creditMicroUsd: 0 })
  await putKey(poor, 'other', 'own-key')
  const made = await answer(poor, pinned('other/chat'))
  t.equal(made.status, 200, 'the provider bills the organization itself')
  t.match(made.json<{ usage: object }>().usage, { cost_micro_usd: 0 })
  const { cost_micro_usd, attempts } = await routeOf(t, poor, made)
  t.equal(cost_micro_usd, '0')
  t.match(attempts, [{ key_source: 'byok', cost_micro_usd: '0', priced: true, price_source: null }])
})

t.test('a provider key with a wrong provider or secret is refused', async (t) => {
  const acme = await admin.organization('refused')
  const put = (body: unknown, target = acme) =>
    send(target, '/v1/providers', {
      method: 'PUT',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  const cases: [unknown, string][] = [
    [{ provider: 'other', apiKey: '' }, '/apiKey'],
    [{ provider: 'other', apiKey: 'a secret with spaces' }, '/apiKey'],
    [{ provider: 'other', apiKey: 'a-secret\n' }, '/apiKey'],
    [{ provider: 'other', apiKey: 'ключ-a-secret' }, '/apiKey'],
    [{ provider: 'other', apiKey: 'a-secret'.repeat(65) }, '/apiKey'],
    [{ provider: 'other', apiKey: ['a-secret'] }, '/apiKey'],
    [{ provider: 'other' }, '/apiKey'],
    [{ apiKey: 'a-secret' }, '/provider'],
    [{ provider: 'nobody', apiKey: 'a-secret' }, '/provider'],
    [{ provider: 'constructor', apiKey: 'a-secret' }, '/provider'],
    [{ provider: 'local', apiKey: 'a-secret' }, '/provider'],
    [{ provider: 'other', apiKey: 'a-secret', region: 'eu' }, '/region'],
  ]
  for (const [body, path] of cases) {
    const got = await put(body)
    t.equal(got.status, 400, JSON.stringify(body).slice(0, 60))
    const id = got.headers.get('service-request-id')
    t.match(got.json(), { error: String, code: 'VALIDATION_ERROR', issues: [{ path, keyword: String }], requestId: id })
    t.notMatch(got.text, /a-secret|a secret/)
    t.ok(got.headers.get('service-region'))
  }
  const wrong = await put({ apiKey: 'a secret '.repeat(90), region: 'eu', 'a/b': 1 })
  const { issues } = wrong.json<{ issues: { path: string }[] }>()
  t.same(issues.map(({ path }) => path).sort(), ['/apiKey', '/a~1b', '/provider', '/region'], 'every place once')
  t.ok(wrong.text.includes(`"error":"${issues[0]?.path} `), 'the first has the message')
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, i]))
  t.equal((await put(many)).json<{ issues: [] }>().issues.length, 32)
  t.match((await put('{"provider": "other", "apiKey": "a-secret')).json(), { code: 'VALIDATION_ERROR' })
  const envelope = async (target: { url: string; key: string }, path: string, init: RequestInit = {}) => {
    const got = await send(target, path, init)
    return [got.status, got.json<{ code: string }>().code]
  }
  t.same(await envelope({ ...acme, key: 'sk_live_nobody' }, '/v1/providers'), [401, 'UNAUTHORIZED'])
  const scopeless = await admin.organization('scopeless', { scopes: ['router'] })
  t.same(await envelope(scopeless, '/v1/providers'), [403, 'FORBIDDEN'])
  t.same(await envelope(acme, '/v1/providers', { method: 'POST' }), [405, 'METHOD_NOT_ALLOWED'])
  t.same(await envelope(acme, '/v1/providers/nobody', { method: 'DELETE' }), [404, 'NOT_FOUND'])
  t.equal((await fetch(`${parley.url}/openapi/platform.json`)).status, 200, 'the contract needs no key')
  const known = (await send(acme, '/v1/providers/known')).json<Record<string, object[]>>()
  t.match(
    known['llm']?.find((row) => 'vendor' in row && row.vendor === 'main'),
    {
      id: 'main:chat',
      vendor: 'main',
      vendorName: 'main',
      model: 'chat',
      benchmarked: false,
    },
  )
})

t.test('a provider key is encrypted in the database', async (t) => {
  const acme = await admin.organization('sealed')
  await putKey(acme, 'other', 'k4n4ry-sealed')
  const sql = openDatabase(parley)
  const rows = await sql<{ row: string; sealed: Buffer }[]>`
    select p::text as row, sealed from provider_keys p where organization_id = ${acme.id}`
  t.equal(rows.length, 1)
  for (const { row, sealed } of rows) {
    t.notMatch(row, /k4n4ry/)
    t.notMatch(sealed.toString('latin1'), /k4n4ry/)
  }
  await sql.end()
})
