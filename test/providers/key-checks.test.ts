/** Tests the request with which each vendor's adapter checks a key, and the error class of each failure. */
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import type { Provider } from '../../domain/ports/provider.ts'
import { createProviders } from '../../providers/registry.ts'
import { type Vendor, type VendorId, vendorIds, vendors } from '../../providers/vendors/vendors.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { startAnthropicStub } from '../vendors/anthropic/stub.ts'
import { startAssemblyaiStub } from '../vendors/assemblyai/stub.ts'
import { startCartesiaStub } from '../vendors/cartesia/stub.ts'
import { startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { startElevenLabsStub } from '../vendors/elevenlabs/stub.ts'
import { startGeminiStub } from '../vendors/gemini/stub.ts'
import { startOpenAiStub } from '../vendors/openai/stub.ts'
import { startSonioxStub } from '../vendors/soniox/stub.ts'
import { catalog, impatient, never, patient, present, providerErrorOf } from '../vendors/suite/given.ts'
import { cells, type VendorStub } from '../vendors/suite/matrix.ts'
import { sendJson, startStub } from '../vendors/suite/stub-server.ts'

const key = 'key-canary-0123456789'
const bearer = { authorization: `Bearer ${key}` }

type Checked = { start: () => Promise<VendorStub>; path: string; signed: object; base?: string }

const openAi = (id: VendorId, path = '/v1/models'): [VendorId, Checked] => [
  id,
  { start: () => startOpenAiStub(), path, signed: bearer, base: '/v1' },
]
const checked = new Map<VendorId, Checked>([
  ...(['openai', 'groq', 'cerebras', 'mistral', 'ollama', 'lmstudio', 'speaches', 'kokoro', 'vllm'] as const).map(
    (id) => openAi(id),
  ),
  openAi('openrouter', '/v1/key'),
  [
    'anthropic',
    {
      start: startAnthropicStub,
      path: '/v1/models?limit=1',
      signed: { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
    },
  ],
  ['assemblyai', { start: startAssemblyaiStub, path: '/v2/transcript?limit=1', signed: { authorization: key } }],
  [
    'cartesia',
    { start: startCartesiaStub, path: '/voices?limit=1', signed: { ...bearer, 'cartesia-version': '2026-08-14' } },
  ],
  ['deepgram', { start: startDeepgramStub, path: '/v1/auth/token', signed: { authorization: `Token ${key}` } }],
  ['elevenlabs', { start: startElevenLabsStub, path: '/v1/user', signed: { 'xi-api-key': key } }],
  ['gemini', { start: startGeminiStub, path: '/v1beta/models?pageSize=1', signed: { 'x-goog-api-key': key } }],
  ['soniox', { start: startSonioxStub, path: '/v1/models', signed: bearer }],
])

/** No server listens on the tcpmux port. */
const nowhere = 'http://127.0.0.1:1'

async function providerAt(t: Test, id: VendorId, baseUrl: string, limits: OutboundLimits): Promise<Provider> {
  const vendor: Vendor = vendors[id]
  const models = vendor.adapter === 'openai' ? { models: { llm: ['chat'] } } : {}
  const configs = [{ id, adapter: id, baseUrl, apiKey: key, ...models }]
  const deps = { limits, clock: systemClock, catalog, local: null, ollamaUrl: null }
  const providers = await createProviders(configs, {}, deps)
  t.teardown(() => Promise.all(providers.map((provider) => provider.close())))
  return present(
    providers.find((provider) => provider.id === id),
    id,
  )
}

async function check(t: Test, id: VendorId, baseUrl: string, limits = patient): Promise<number> {
  const { ports } = await providerAt(t, id, baseUrl, limits)
  return present(ports.keyCheck, 'keyCheck').send(never)
}

for (const [id, { start, path, signed, base = '' }] of checked)
  t.test(`${id}: a key is checked with one request, and each failure has its class`, async (t) => {
    const stub = await start()
    t.teardown(() => stub.close())
    stub.behave('ok')
    t.equal(await check(t, id, stub.url + base), 200)
    t.match(stub.seen, [{ method: 'GET', path, headers: signed }])
    t.equal(stub.seen.length, 1)
    for (const cell of ['auth', 'quota', 'rate_limited', 'overloaded', 'server', 'garbage', 'cut'] as const) {
      stub.behave(cell)
      const error = await providerErrorOf(check(t, id, stub.url + base))
      t.equal(error.errorClass, cells[cell], cell)
      t.notOk(inspect(error, { depth: 12, showHidden: true }).includes(key), `${cell}: the key is not shown`)
    }
    stub.behave('ok')
    t.match(await providerErrorOf(check(t, id, nowhere + base)), { errorClass: 'unreachable', sent: false })
  })

t.test('a server that does not answer in time fails the check', async (t) => {
  const stub = await startOpenAiStub()
  t.teardown(() => stub.close())
  stub.behave('hang')
  t.match(await providerErrorOf(check(t, 'openai', `${stub.url}/v1`, impatient)), { errorClass: 'timeout' })
})

/** Starts a server with one answer, and checks a key there. */
async function checkAnswered(t: Test, id: VendorId, status: number, body: unknown): Promise<number> {
  const stub = await startStub({ http: (_request, response) => sendJson(response, body, { status }) })
  t.teardown(() => stub.close())
  return check(t, id, stub.url)
}

t.test('an ElevenLabs key that is limited to speech is accepted', async (t) => {
  for (const field of ['status', 'code'])
    t.equal(await checkAnswered(t, 'elevenlabs', 401, { detail: { [field]: 'missing_permissions' } }), 401)
  const wrong = checkAnswered(t, 'elevenlabs', 401, { detail: { status: 'invalid_api_key' } })
  t.match(await providerErrorOf(wrong), { errorClass: 'auth', status: 401 })
})

t.test('an OpenAI key that may not list models is accepted', async (t) => {
  const message = 'You have insufficient permissions for this operation. Missing scopes: api.model.read.'
  const refused = { message, type: 'invalid_request_error', param: null, code: null }
  for (const status of [401, 403]) t.equal(await checkAnswered(t, 'openai', status, { error: refused }), status)
  const wrong = checkAnswered(t, 'openai', 401, { error: { message: 'Incorrect API key provided: sk-1***.' } })
  t.match(await providerErrorOf(wrong), { errorClass: 'auth', status: 401 })
})

t.test('a check reads models as a bare list, an error with status 200, and other APIs', async (t) => {
  t.equal(await checkAnswered(t, 'openai', 200, [{ id: 'chat' }]), 200)
  const inBody = checkAnswered(t, 'openai', 200, { error: { code: 'invalid_api_key' } })
  t.match(await providerErrorOf(inBody), { errorClass: 'auth' })
  const rows: [status: number, body: unknown, expected: string][] = [
    [200, 'welcome', 'protocol'],
    [302, {}, 'protocol'],
    [403, {}, 'auth'],
    [404, {}, 'bad_request'],
  ]
  for (const [status, body, expected] of rows)
    t.match(await providerErrorOf(checkAnswered(t, 'openai', status, body)), { errorClass: expected }, String(status))
})

t.test('each vendor with a check in the vendor table can check keys, and is in this test', async (t) => {
  const configured = vendorIds.filter((id) => serverOf(id)?.models === null || vendors[id].keyVariable === null)
  const configs = configured
    .filter((id) => id !== 'local')
    .map((id) => ({ id, adapter: id, baseUrl: nowhere, models: { llm: ['chat'] } }))
  const env = Object.fromEntries(vendorIds.flatMap((id) => vendors[id].keyVariable ?? []).map((name) => [name, key]))
  const deps = { limits: patient, clock: systemClock, catalog, local: null, ollamaUrl: null }
  const providers = await createProviders(configs, env, deps)
  t.teardown(() => Promise.all(providers.map((provider) => provider.close())))
  t.same(providers.map(({ id }) => id).sort(), vendorIds.filter((id) => id !== 'local').sort())
  for (const { id, ports, forKey } of providers) {
    const { keyCheck } = vendors[id as VendorId]
    t.equal(ports.keyCheck !== undefined, keyCheck !== null, id)
    t.equal((await forKey?.('another'))?.keyCheck !== undefined, keyCheck !== null, `${id}: with another key`)
    t.equal(checked.has(id as VendorId), keyCheck !== null, `${id}: is in this test`)
  }
})

t.test('a check proves a key at the own address of a vendor with keys, and elsewhere only the address', async (t) => {
  const env = Object.fromEntries(vendorIds.flatMap((id) => vendors[id].keyVariable ?? []).map((name) => [name, key]))
  const deps = { limits: patient, clock: systemClock, catalog, local: null, ollamaUrl: null }
  const others = (['openai', 'deepgram', 'ollama'] as const).map((id) => {
    return {
      id: `own-${id}`,
      adapter: id,
      baseUrl: nowhere,
      apiKey: key,
      ...(id !== 'deepgram' && { models: { llm: ['chat'] } }),
    }
  })
  const providers = await createProviders(
    [
      ...vendorIds
        .filter((id) => vendors[id].keyVariable !== null && serverOf(id)?.models !== null)
        .map((id) => ({ id, adapter: id })),
      ...others,
    ],
    env,
    deps,
  )
  t.teardown(() => Promise.all(providers.map((provider) => provider.close())))
  for (const { id, ports, forKey } of providers) {
    const needsKey = ports.keyCheck?.needsKey
    if (needsKey !== undefined) t.equal(needsKey, !id.startsWith('own-'), id)
    t.equal((await forKey?.('another'))?.keyCheck?.needsKey, needsKey, `${id}: with another key`)
  }
})

function serverOf(id: VendorId) {
  const vendor: Vendor = vendors[id]
  return vendor.adapter === 'openai' ? vendor.server : null
}
