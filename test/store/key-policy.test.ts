/** The fields in an API key's policy, their spelling, and rows from an earlier version. */
import t from 'tap'
import type { KeyPolicy } from '../../domain/records/organization.ts'
import { readKeyPolicy, readStoredPolicy } from '../../handlers/key-policy.ts'
import { organization, silent, TestCluster } from './cluster.ts'

const full = {
  voice: 'slt',
  chain: { stt: ['deepgram:nova-3', 'whisper/base'], llm: ['openrouter/meta/llama:free', 'ollama:llama3:8b'] },
  language: 'ES-mx',
  allowed_origins: ['https://App.example:443', 'http://app.example:8080', 'capacitor://localhost'],
  allow_providers: ['deepgram'],
  max_concurrency: 2,
  objective: 'latency',
  aliases: { 'gpt-4o-mini': 'auto', 'whisper-1': 'deepgram:nova-3' },
}
const read: KeyPolicy = {
  voice: 'slt',
  chain: { stt: ['deepgram/nova-3', 'whisper/base'], llm: ['openrouter/meta/llama:free', 'ollama/llama3:8b'] },
  language: 'es-MX',
  allowedOrigins: ['https://app.example', 'http://app.example:8080', 'capacitor://localhost'],
  allowProviders: ['deepgram'],
  maxConcurrency: 2,
  objective: 'latency',
  aliases: { 'gpt-4o-mini': 'auto', 'whisper-1': 'deepgram:nova-3' },
}

t.test('the policy of an API key is stored under the field names of the contract', (t) => {
  t.same(readKeyPolicy(full), read)
  t.same(readKeyPolicy({}), {})
  t.same(readKeyPolicy({ allowed_origins: [] }), { allowedOrigins: [] })
  t.end()
})

t.test("the error for a wrong field in an API key's policy names the field", (t) => {
  const wrong: [unknown, RegExp][] = [
    [[], /^the policy must be a JSON object$/],
    [null, /^the policy must be a JSON object$/],
    [
      { allowedOrigins: ['https://a.example'] },
      /^allowedOrigins is not a known field; there are voice, chain,.* allowed_origins/,
    ],
    [{ allowed_origins: 'http://good.example' }, /^allowed_origins must be array$/],
    [{ allowed_origins: [''] }, /^allowed_origins\/0 must match pattern/],
    [{ allowed_origins: ['https://a.example/path'] }, /^allowed_origins\/0 must match pattern/],
    [{ allowed_origins: ['https://a.example:99999'] }, /^allowed_origins holds what is no origin/],
    [{ language: '!!' }, /^language is not a BCP 47 tag/],
    [{ max_concurrency: 'x' }, /^max_concurrency must be integer$/],
    [{ max_concurrency: 0 }, /^max_concurrency must be >= 1$/],
    [{ chain: 5 }, /^chain must be object$/],
    [{ chain: { video: ['a/b'] } }, /^chain\/video is not a known field/],
    [{ chain: { llm: ['gpt-4o'] } }, /^chain\/llm\/0 must match pattern/],
    [{ allow_providers: [] }, /^allow_providers must NOT have fewer than 1 items$/],
    [{ aliases: { a: 'b', b: 'auto' } }, /^aliases: a means b, which is an alias itself$/],
    [{ aliases: { a: 'a' } }, /^aliases: a means a, which is an alias itself$/],
    [{ aliases: { auto: 'openai:gpt-4o' } }, /^aliases: auto always means the choice of the router/],
    [{ aliases: { a: '' } }, /^aliases\/a must NOT have fewer than 1 characters$/],
    [{ objective: 'best' }, /^objective must be one of balanced, quality, accuracy, latency, cost$/],
  ]
  for (const [value, message] of wrong)
    t.throws(() => readKeyPolicy(value), { name: 'PolicyError', message }, JSON.stringify(value))
  t.end()
})

t.test("the readable part of an earlier version's policy row is used", (t) => {
  t.same(readStoredPolicy(read), { policy: read, dropped: [] })
  t.same(readStoredPolicy({ allowed_origins: ['http://a.example'] }), {
    policy: { allowedOrigins: ['http://a.example'] },
    dropped: [],
  })
  t.same(readStoredPolicy({ allowedOrigins: 'http://good.example', objective: 'cost' }), {
    policy: { objective: 'cost' },
    dropped: ['allowed_origins'],
  })
  t.same(readStoredPolicy({ maxConcurrency: 'x', chain: 5, language: '!!', colour: 'red', voice: 'slt' }), {
    policy: { voice: 'slt' },
    dropped: ['max_concurrency', 'chain', 'language', 'colour'],
  })
  t.same(readStoredPolicy({ allowProviders: 'deepgram' }), {
    policy: { allowProviders: [] },
    dropped: ['allow_providers'],
  })
  t.same(readStoredPolicy('x'), { policy: {}, dropped: ['policy'] })
  t.end()
})

t.test('the store warns about unreadable policy rows, and all reads return the same policy', async (t) => {
  const cluster = await TestCluster.start()
  t.teardown(() => cluster.stop())
  const url = await cluster.database()
  const warned: object[] = []
  const log = { ...silent, warn: (fields: object) => void warned.push(fields) }
  const store = await cluster.store(t, url, { log })
  const { id } = await organization(store, 'acme')
  const wanted = {
    organizationId: id,
    name: '',
    scopes: ['router' as const],
    test: false,
    policy: {},
    expiresAtMs: null,
  }
  const made = await store.keys.create(wanted)
  const keyId = made?.key.id ?? ''
  const stored = { allowedOrigins: 'http://good.example', voice: 'slt' }
  await cluster.sql(t, url)`update api_keys set policy = ${JSON.stringify(stored)}::text::jsonb where id = ${keyId}`
  const policy = { voice: 'slt' }
  t.same((await store.keys.verify(made?.secret ?? ''))?.policy, policy)
  t.same((await store.keys.find(id, keyId))?.policy, policy)
  t.same((await store.keys.list(id))[0]?.policy, policy)
  t.match(warned, [
    { keyId, fields: ['allowed_origins'] },
    { keyId, fields: ['allowed_origins'] },
  ])
})
