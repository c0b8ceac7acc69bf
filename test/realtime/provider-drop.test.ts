/**
 * A provider drops all its sockets at once. Every client gets an error, or another provider if its config requests
 * replay.
 */
import t, { type Test } from 'tap'
import { until } from '../process/machine.ts'
import { ownServer } from '../server.ts'
import { type DeepgramStub, queryOf, startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { playListen } from '../vendors/deepgram/stub-sockets.ts'
import { type StubSocket, sinePcm, transcriptOf } from '../vendors/suite/stub-server.ts'
import { type Client, start } from './socket.ts'

const address = '/v1/transcribe/stream'
/** 100 ms of sound that the stub recognizes as speech. */
const sound = sinePcm(1600, 16_000)

/** The first of 1,000 sockets sends nothing until the last socket is open, so silence may last long. */
const patient = { PARLEY_REALTIME_SILENCE_MS: '600000' }

/** Starts a server and a stub for each provider. Returns each stub's sockets, oldest first. */
async function setUp(t: Test, ids: readonly string[]) {
  const stubs: Record<string, { stub: DeepgramStub; sockets: StubSocket[] }> = {}
  for (const id of ids) {
    const sockets: StubSocket[] = []
    const stub = await startDeepgramStub()
    stub.playSocket((socket, request) => {
      sockets.push(socket)
      playListen(socket, queryOf(request), 'ok')
    })
    stubs[id] = { stub, sockets }
  }
  const providers = Object.entries(stubs).map(([id, { stub }]) => ({
    id,
    adapter: 'deepgram',
    baseUrl: stub.url,
    apiKey: 'k',
    models: { stt: ['nova-3'] },
  }))
  t.teardown(() => Promise.all(Object.values(stubs).map(({ stub }) => stub.close())))
  const parley = await ownServer(t, {
    PARLEY_PROVIDERS: JSON.stringify(providers),
    PARLEY_LOCAL_ENABLED: 'false',
    ...patient,
  })
  return { parley, stubs }
}

t.test('if the provider drops 1,000 sockets, each client gets an error frame and a close code', async (t) => {
  const { parley, stubs } = await setUp(t, ['vendor'])
  const { stub, sockets } = stubs['vendor']!
  const clients: Client[] = []
  const listening = async () => {
    const client = await start(parley, address, { language: 'en' })
    client.sendBytes(sound)
    await client.take('transcript')
    return client
  }
  for (let i = 0; i < 20; i++) clients.push(...(await Promise.all(Array.from({ length: 50 }, listening))))
  t.ok(sockets.length >= 1000, `${sockets.length} sockets at the provider`)

  const startedMs = performance.now()
  const ways = [(socket: StubSocket) => socket.cut(), (socket: StubSocket) => socket.reset()] as const
  for (const [i, socket] of sockets.splice(0).entries()) ways[i % 2]!(socket)
  const codes = await Promise.all(clients.map(({ closed }) => closed))
  t.comment(`all closed within ${Math.round(performance.now() - startedMs)} ms`)

  t.equal(codes.filter((code) => code === 1011).length, 1000)
  const errors = clients.flatMap((client) => client.frames('error'))
  t.equal(errors.filter(({ code, retryable }) => code === 'UPSTREAM' && retryable === true).length, 1000)
  t.equal(new Set(errors.map(({ requestId }) => requestId)).size, 1000, 'each with its own request')
  const last = clients.filter((client) => client.received.at(-1)?.frame?.type === 'error')
  t.equal(last.length, 1000, 'and nothing after it')

  await until('no connection to the provider but those that wait', () => stub.openSockets <= 2)
  t.equal((await fetch(`${parley.url}/healthz`)).status, 200)
})

t.test('with replay a second provider takes over and receives all the audio again', async (t) => {
  const { parley, stubs } = await setUp(t, ['one', 'other'])
  const client = await start(parley, address, { language: 'en', replay: true, interimResults: false })
  const first = client.frames('ready')[0]!['provider'] as string
  client.sendBytes(sound)
  await client.take('speech_started')
  stubs[first]!.sockets[0]!.cut()
  const second = (await client.take('ready'))['provider'] as string
  t.same([first, second].sort(), ['one', 'other'])
  client.sendBytes(sound)
  client.send({ type: 'end' })
  t.equal(await client.closed, 1000)
  t.equal(client.text(), transcriptOf(Buffer.concat([sound, sound])))
  t.match(client.frames('end'), [{ usage: { durationMs: 200 } }])
  t.same(client.frames('error'), [])

  const without = await start(parley, address, { language: 'en', interimResults: false })
  without.sendBytes(sound)
  await without.take('speech_started')
  for (const { sockets } of Object.values(stubs)) for (const socket of sockets) socket.cut()
  t.equal(await without.closed, 1011)
  t.match(without.received.at(-1)?.frame, { type: 'error', code: 'UPSTREAM', retryable: true })
  t.equal(without.frames('ready').length, 1, 'and never where it was not asked for')
})
