/** Tests organizations' provider keys on sockets: each stream's key, its payer, and a deleted or replaced key. */
import t, { type Test } from 'tap'
import { deleteKey, putKey, startAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { queryOf, startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { playListen, playSpeak } from '../vendors/deepgram/stub-sockets.ts'
import type { SeenRequest } from '../vendors/suite/matrix.ts'
import { type StubSocket, sinePcm, transcriptOf } from '../vendors/suite/stub-server.ts'
import { speechPcm } from '../vendors/suite/tts.ts'
import { open, refusal, start, type Target } from './socket.ts'

const hearing = '/v1/transcribe/stream'
const speaking = '/v1/synthesize/stream'
const sound = sinePcm(1600, 16_000)

const stub = await startDeepgramStub()
stub.playSocket((socket, request) => {
  const noted = noteFirstUse(socket, request)
  if (request.path.startsWith('/v1/speak')) playSpeak(noted, 'ok')
  else playListen(noted, queryOf(request), 'ok')
})
/** The streams' provider keys, in order. A warm socket counts when a stream uses it. */
let used: string[] = []

/** The operator has a credential only for one of these providers. The models of both have a price. */
const models = { stt: ['nova-3'], tts: ['aura-2'] }
const provider = (id: string, apiKey: string) => ({ id, adapter: 'deepgram', baseUrl: stub.url, apiKey, models })
t.teardown(() => stub.close())
const { parley, admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: JSON.stringify([provider('dormant', 'env:NO_SUCH_KEY'), provider('house', 'operators')]),
  PARLEY_LOCAL_ENABLED: 'false',
})
const sql = openDatabase(parley)
t.teardown(() => sql.end())

const organization = (name: string, creditMicroUsd = 0) =>
  admin.organization(name, { scopes: ['realtime', 'platform'], creditMicroUsd })

async function listen(t: Test, target: Target, provider: string): Promise<void> {
  const client = await start(target, hearing, { model: `${provider}/nova-3`, language: 'en' })
  client.sendBytes(sound)
  client.send({ type: 'end' })
  t.equal(await client.closed, 1000)
  t.equal(client.text(), transcriptOf(sound), 'all of the words')
}

async function speak(t: Test, target: Target, provider: string): Promise<void> {
  const client = await start(target, speaking, { model: `${provider}/aura-2`, language: 'en' })
  client.send({ type: 'text', text: 'Good morning.' })
  client.send({ type: 'end' })
  t.equal(await client.closed, 1000)
  t.same(client.audio(), speechPcm, 'all of the speech')
}

function noteFirstUse(socket: StubSocket, { headers }: SeenRequest): StubSocket {
  let isUsed = false
  const note = () => {
    if (!isUsed) used.push((headers['authorization'] ?? '').replace('Token ', ''))
    isUsed = true
  }
  return {
    ...socket,
    listen: ({ text, binary }) =>
      socket.listen({
        text(message) {
          if (!message.includes('KeepAlive')) note()
          text?.(message)
        },
        binary(bytes) {
          note()
          binary?.(bytes)
        },
      }),
  }
}

/** Reads the ledger row. The row is written a moment after the stream. */
async function ledgerOf(id: string, rows: number) {
  const read = () => sql<{ operation: string; cost: string; attempts: object[] }[]>`
    select r.operation, r.cost_micro_usd::text as cost,
      json_agg(json_build_object('provider', a.provider, 'outcome', a.outcome, 'cost', a.cost_micro_usd, 'key', a.key_source)) as attempts
    from requests r join attempts a using (organization_id, request_id)
    where organization_id = ${id} group by r.request_id, r.operation, r.cost_micro_usd, r.started_at order by r.started_at`
  await until('the ledger holds them', async () => (await read()).length >= rows)
  return read()
}

const pinned = { [hearing]: 'dormant/nova-3', [speaking]: 'dormant/aura-2' }

/**
 * Asserts that the stream is refused after its socket has opened. The socket opens because the operator's other
 * provider streams. The operator has no credential for the pinned provider, but this is not an outage.
 */
async function isRefused(t: Test, target: Target, address: keyof typeof pinned): Promise<void> {
  const client = await open(target, address)
  client.send({ type: 'config', model: pinned[address], language: 'en' })
  t.equal(await client.closed, 1008)
  t.match(client.frames('error'), [{ code: 'INVALID_CONFIG', retryable: false }])
}

t.test('a stream with the organization’s provider key costs the organization no credit', async (t) => {
  const acme = await organization('acme')
  const refused = { status: 402, code: 'insufficient_credit' }
  t.same(await refusal(acme, hearing, { headers: { authorization: `Bearer ${acme.key}` } }), refused)
  t.equal((await putKey(acme, 'dormant', 'acme-own')).status, 200)
  used = []
  await listen(t, acme, 'dormant')
  await speak(t, acme, 'dormant')
  t.same(used, ['acme-own', 'acme-own'])
  const attempt = { provider: 'dormant', outcome: 'succeeded', cost: 0, key: 'byok' }
  t.same(await ledgerOf(acme.id, 2), [
    { operation: 'transcribeStream', cost: '0', attempts: [attempt] },
    { operation: 'synthesizeStream', cost: '0', attempts: [attempt] },
  ])
  const credit = (await admin.store.organizations.list()).find(({ id }) => id === acme.id)?.creditMicroUsd
  t.equal(credit, 0)
})

t.test('no other organization uses the provider key of an organization', async (t) => {
  const [owner, other] = [await organization('owner'), await organization('other', 1_000_000)]
  await putKey(owner, 'dormant', 'owners')
  // The owner listens twice, so that warm sockets with its key exist when the other organization comes.
  for (let i = 0; i < 2; i++) await listen(t, owner, 'dormant')
  used = []
  for (const address of [hearing, speaking] as const) await isRefused(t, other, address)
  t.same(used, [])
  await listen(t, other, 'house')
  await putKey(other, 'dormant', 'others')
  await listen(t, other, 'dormant')
  await listen(t, owner, 'dormant')
  t.same(used, ['operators', 'others', 'owners'])
  const rows = await ledgerOf(other.id, 2)
  t.match(rows, [{ attempts: [{ key: 'platform' }] }, { cost: '0', attempts: [{ key: 'byok' }] }])
  t.ok(Number(rows[0]?.cost) > 0, 'the operator’s costs')
})

t.test('a new provider key is used from the next stream on, and a deleted provider key for no stream', async (t) => {
  const acme = await organization('rotating', 1_000_000)
  used = []
  for (const key of ['first', 'second']) {
    await putKey(acme, 'dormant', key)
    // From the second stream on, warm sockets are used. Warm sockets with the earlier key must not be used.
    for (let i = 0; i < 3; i++) await listen(t, acme, 'dormant')
    for (let i = 0; i < 3; i++) await speak(t, acme, 'dormant')
  }
  t.same(used, [...Array<string>(6).fill('first'), ...Array<string>(6).fill('second')])

  await t.test('an open stream keeps its provider key', async (t) => {
    const client = await start(acme, hearing, { model: 'dormant/nova-3', language: 'en' })
    client.sendBytes(sound)
    await client.take('speech_started')
    t.equal((await deleteKey(acme, 'dormant')).status, 204)
    client.sendBytes(sound)
    client.send({ type: 'end' })
    t.equal(await client.closed, 1000)
    t.equal(client.text(), transcriptOf(Buffer.concat([sound, sound])))
  })
  used = []
  for (const address of [hearing, speaking] as const) await isRefused(t, acme, address)
  t.same(used, [])
})
