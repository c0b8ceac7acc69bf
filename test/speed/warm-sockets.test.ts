/**
 * The time until a provider with a handshake of 150 ms serves a stream, with and without a warm socket. The same run
 * measures the time that Parley and this machine alone need, with the provider loopback, which has no handshake.
 */
import t from 'tap'
import type WebSocket from 'ws'
import { freePort } from '../process/machine.ts'
import { metric } from '../process/metrics.ts'
import { delay, StubSocket, until } from '../providers/stub-socket.ts'
import { median, open, start } from '../realtime/socket.ts'
import { ownServer } from '../server.ts'
import { sinePcm, transcriptOf } from '../vendors/suite/stub-server.ts'

const hearing = '/v1/transcribe/stream'
const speaking = '/v1/synthesize/stream'
const handshakeMs = 150
const sessions = 11
const sound = sinePcm(1600, 16_000)
const speech = sinePcm(2400, 24_000)

/** A small vendor stub: one transcript at the end of the audio, and the same speech for every text. */
const stub = await StubSocket.start()
const samples = new Map<WebSocket, Buffer>()
/** The client cannot see that these sockets are lost before it uses them. */
const forgotten = new Set<WebSocket>()
/** The measured handshake time, because timers are late on a busy machine. */
const handshakesMs: number[] = []
stub.upgrade = ({ accept }) => {
  const askedMs = performance.now()
  setTimeout(() => {
    handshakesMs.push(performance.now() - askedMs)
    accept()
  }, handshakeMs)
}
stub.answer = (socket, data, isBinary) => {
  if (forgotten.has(socket)) return socket.terminate()
  if (isBinary) return void samples.set(socket, Buffer.concat([samples.get(socket) ?? Buffer.alloc(0), data]))
  const { type } = JSON.parse(data.toString()) as { type: string }
  if (type === 'CloseStream') conclude(socket)
  if (type === 'Flush') {
    socket.send(speech)
    socket.send('{"type":"Flushed","sequence_id":0}')
  }
}

function conclude(socket: WebSocket): void {
  const audio = samples.get(socket) ?? Buffer.alloc(0)
  const duration = audio.length / 32_000
  const channel = { alternatives: [{ transcript: transcriptOf(audio), confidence: 0.9, words: [] }] }
  const final = { is_final: true, speech_final: true }
  socket.send(JSON.stringify({ type: 'Results', start: 0, duration, channel, ...final }))
  socket.send(JSON.stringify({ type: 'Metadata', request_id: 'stub', duration, channels: 1 }))
  socket.close(1000)
}

const adminPort = await freePort()
t.teardown(() => stub.close())
const parley = await ownServer(t, {
  PARLEY_PROVIDERS: JSON.stringify([
    { id: 'vendor', adapter: 'deepgram', baseUrl: stub.url.replace('ws', 'http'), apiKey: 'k' },
    { id: 'loopback', adapter: 'loopback' },
  ]),
  PARLEY_LOCAL_ENABLED: 'false',
  PARLEY_ADMIN_PORT: String(adminPort),
})

const outcomes = (outcome: string) => metric(adminPort, 'parley_warm_sockets_total', `outcome="${outcome}"`)

type Session = (config: object) => Promise<number>

/** Measures the time from the config frame to the event `ready`. */
const listen: Session = async (config) => {
  const client = await open(parley, hearing)
  const startedMs = performance.now()
  client.send({ type: 'config', ...config })
  await client.take('ready')
  const readyMs = client.received[0]!.atMs - startedMs
  client.send({ type: 'end' })
  await client.closed
  return readyMs
}

/**
 * Measures the time from the first text to the first sound. Before the text a stream opens no connection to its
 * provider.
 */
const speak: Session = async (config) => {
  const client = await start(parley, speaking, config)
  const startedMs = performance.now()
  client.send({ type: 'text', text: 'Hello there.' })
  await client.takeAudio()
  const soundMs = client.received.find(({ audio }) => audio)!.atMs - startedMs
  client.send({ type: 'end' })
  await client.closed
  return soundMs
}

const config = { model: 'vendor/nova-3', language: 'en' }
const speaks = { model: 'vendor/aura-2', language: 'en', encoding: 'pcm_s16le' }
const kinds = [
  {
    what: 'a warm socket adds at most 20 ms to the time until a transcription is ready',
    session: listen,
    config,
    // Each stream needs a different URL at the vendor, so it cannot use a warm socket.
    others: Array.from({ length: sessions }, (_, i) => ({ ...config, endpointingMs: 100 + i })),
    floor: { model: 'loopback/loopback' },
  },
  {
    what: 'a warm socket adds at most 20 ms to the time until the speech of a text arrives',
    session: speak,
    config: { ...speaks, sampleRate: 24_000 },
    others: Array.from({ length: sessions }, (_, i) => ({ ...speaks, sampleRate: 24_000, speed: 1 + i / 100 })),
    floor: { model: 'loopback/loopback' },
  },
]

for (const { what, session, config, others, floor } of kinds)
  t.test(what, async (t) => {
    const floorMs = await repeat(() => session(floor))
    const coldMs: number[] = []
    for (const other of others) coldMs.push(await cold(session, other))
    await cold(session, config)
    const hits = await outcomes('hit')
    const warmMs = await repeat(async () => {
      await waiting()
      return session(config)
    })
    const shown = (values: number[]) =>
      `${median(values).toFixed(1)} ms (${values.map((ms) => ms.toFixed(1)).join(', ')})`
    t.comment(`without a provider ${shown(floorMs)}`)
    t.comment(`cold, beyond the handshake ${shown(coldMs)}`)
    t.comment(`warm ${shown(warmMs)}`)
    t.equal((await outcomes('hit')) - hits, sessions, 'each found one')
    t.ok(median(warmMs) - median(floorMs) <= 20, 'warm')
    t.ok(median(coldMs) - median(floorMs) <= 20, 'cold')
  })

t.test('a warm provider socket that has closed is detected, and never fails a request', async (t) => {
  const stale = () => outcomes('stale')
  const transcribed = async () => {
    const client = await start(parley, hearing, config)
    client.sendBytes(sound)
    client.send({ type: 'end' })
    t.equal(await client.closed, 1000, 'the session ends well')
    return client.text()
  }
  const spoken = async () => {
    const client = await start(parley, speaking, { ...speaks, sampleRate: 24_000 })
    client.send({ type: 'text', text: 'Hello there.' })
    client.send({ type: 'end' })
    t.equal(await client.closed, 1000, 'the session ends well')
    return client.audio()
  }
  for (const end of [(socket: WebSocket) => void forgotten.add(socket), (socket: WebSocket) => socket.terminate()]) {
    for (const once of [
      async () => t.equal(await transcribed(), transcriptOf(sound), 'all of the audio, once'),
      async () => t.same(await spoken(), speech, 'all of the speech, once'),
    ]) {
      await waiting()
      await once()
      const before = await stale()
      for (const socket of await waiting()) end(socket)
      await once()
      t.ok((await stale()) > before, 'it is counted')
    }
  }
})

/** Returns the time in addition to the handshake, for a socket that was not warm. */
async function cold(session: Session, config: object): Promise<number> {
  const made = handshakesMs.length
  const ms = await session(config)
  const own = handshakesMs[made]!
  await waiting()
  return ms - own
}

async function repeat(session: () => Promise<number>): Promise<number[]> {
  const values: number[] = []
  for (let i = 0; i < sessions; i++) values.push(await session())
  return values
}

/** Returns the unused warm sockets, once there are some and no handshake is under way. */
async function waiting(): Promise<WebSocket[]> {
  const idle = () =>
    stub.accepted.filter(
      (socket, i) => socket.readyState === socket.OPEN && stub.received[i]!.length === 0 && !forgotten.has(socket),
    )
  await until(() => idle().length > 0 && handshakesMs.length === stub.asked.length, 'a socket that waits')
  // The server has accepted the socket, but the client does not know it yet.
  await delay(30)
  return idle()
}
