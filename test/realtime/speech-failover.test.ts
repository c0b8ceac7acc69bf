/**
 * Tests /v1/synthesize/stream if the first two providers fail, for vendors with a socket and for vendors with only
 * HTTP: the third one speaks.
 */
import t from 'tap'
import { openAdministration } from '../platform/setup.ts'
import { serverInTime } from '../time/server.ts'
import { startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { startOpenAiStub } from '../vendors/openai/stub.ts'
import type { Cell, VendorStub } from '../vendors/suite/matrix.ts'
import { type Client, start } from './socket.ts'

const address = '/v1/synthesize/stream'
const cells = [
  'refuse',
  'hang',
  'auth',
  'quota',
  'rate_limited',
  'overloaded',
  'server',
  'empty',
  'header_only',
] as const
const ways = {
  live: { adapter: 'deepgram', model: 'aura-2', path: '', startStub: startDeepgramStub },
  http: { adapter: 'openai', model: 'gpt-4o-mini-tts', path: '/v1', startStub: () => startOpenAiStub() },
} as const
type Way = keyof typeof ways

/**
 * Starts a separate provider for each kind of failure and each position in the order, so a failure in one test does not
 * affect another test.
 */
async function vendorsOf(way: Way) {
  const { adapter, model, path, startStub } = ways[way]
  const [bad, good] = [await startStub(), await startStub()]
  const entry = (id: string, url: string) => ({
    id,
    adapter,
    baseUrl: url + path,
    apiKey: 'k',
    models: { tts: [model] },
  })
  const failing = cells.flatMap((cell) => {
    const url = cell === 'refuse' ? 'http://127.0.0.1:9' : bad.url
    return [entry(idOf(way, cell, 1), url), entry(idOf(way, cell, 2), url)]
  })
  return { bad, good, entries: [...failing, entry(idOf(way, 'ok', 3), good.url)] }
}

const idOf = (way: Way, cell: Cell, place: number) => `${way}-${cell.replace('_', '-')}-${place}`
const live = await vendorsOf('live')
const http = await vendorsOf('http')
t.teardown(() => Promise.all([live.bad, live.good, http.bad, http.good].map((stub) => stub.close())))
const parley = await serverInTime(t, {
  PARLEY_PROVIDERS: JSON.stringify([...live.entries, ...http.entries]),
  PARLEY_LOCAL_ENABLED: 'false',
  PARLEY_WARM_SOCKETS_PER_ROUTE: '0',
  // The limit for silence. Two silent providers together take longer, and the limit must not end a stream whose speech
  // is still awaited.
  PARLEY_REALTIME_SILENCE_MS: '10000',
})
const admin = await openAdministration(parley)
t.teardown(() => admin.close())
const { id: organizationId } = await admin.organization('acme')

/** Opens a stream with a key that tries these providers in this order. */
async function connect(way: Way, ids: readonly string[]): Promise<Client> {
  const policy = { chain: { tts: ids.map((id) => `${id}/${ways[way].model}`) }, allowProviders: ids }
  const wanted = { organizationId, name: '', scopes: ['realtime'], test: false, policy, expiresAtMs: null } as const
  const made = await admin.store.keys.create(wanted)
  return parley.clock.during(start({ url: parley.url, key: made!.secret }, address, { language: 'en' }))
}

const stubs: Record<Way, { bad: VendorStub }> = { live, http }

for (const way of ['live', 'http'] as const)
  for (const cell of cells)
    t.test(`${way}: if the first two providers fail with ${cell}, the third provider speaks`, async (t) => {
      stubs[way].bad.behave(cell === 'refuse' ? 'ok' : cell)
      const ids = [idOf(way, cell, 1), idOf(way, cell, 2), idOf(way, 'ok', 3)]
      const client = await connect(way, ids)
      client.send({ type: 'text', text: 'Hello there. ' })
      client.send({ type: 'end' })
      t.equal(await parley.clock.during(client.closed), 1000)
      t.match(client.frames('ready'), [{ provider: ids[0] }, { provider: ids[2] }])
      t.equal(client.frames('ready').length, 2)
      t.ok(client.audio().length > 1000, `${client.audio().length} bytes of speech`)
      t.same(client.frames('error'), [])
      t.match(client.frames('end'), [{ usage: { characters: 12 } }])
    })

t.test('if the last candidate fails too, the client gets one error', async (t) => {
  live.bad.behave('server')
  const client = await connect('live', [idOf('live', 'server', 1), idOf('live', 'server', 2)])
  client.send({ type: 'text', text: 'Hello there. ', flush: true })
  t.equal(await parley.clock.during(client.closed), 1011)
  t.match(client.frames('error'), [{ code: 'UPSTREAM', retryable: true }])
  t.equal(client.frames('error').length, 1)
})
