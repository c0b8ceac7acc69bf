/**
 * The embedded engines in streams: the time until words are recognized, until speech begins, and until cleared speech
 * ends.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openLocal, outcome } from '../local/setup.ts'
import { type Client, median, serverWithSpeech, start } from '../realtime/socket.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'

const hearing = '/v1/transcribe/stream'
const telephone = { language: 'en', sampleRate: 8000 }
const parley = await serverWithSpeech()

/** Returns a fixture's samples: 8 kHz, s16le, without the 44-byte header. */
const samples = (name: keyof typeof spoken) => Buffer.from(readFixture(name).subarray(44))

t.test('live speech is transcribed as fast as it is spoken', async (t) => {
  const names = Object.keys(spoken).slice(0, 5) as (keyof typeof spoken)[]
  const [firstMs, finalMs]: [number[], number[]] = [[], []]
  for (const name of names) {
    const client = await start(parley, hearing, { ...telephone, endpointingMs: 300 })
    const speech = Buffer.concat([samples(name), Buffer.alloc(16_000)])
    const beginMs = performance.now()
    await feedPaced(client, speech)
    const final = await client.take('transcript').then((first) => (first['speechFinal'] ? first : speechFinal(client)))
    const arrival = (fits: (isFinal: boolean) => boolean) =>
      client.received.find(({ frame }) => frame?.type === 'transcript' && fits(frame['isFinal'] as boolean))!.atMs
    firstMs.push(arrival((isFinal) => !isFinal) - beginMs - onsetMs(speech))
    const saidMs = client.received.find(({ frame }) => frame === final)!.atMs
    // The configured silence of 300 ms is subtracted, because the server can decide the end point only after this
    // silence.
    finalMs.push(saidMs - beginMs - (final['endMs'] as number) - 300)
    t.match(client.frames('speech_started')[0], { startMs: Number })
    client.send({ type: 'end' })
    t.equal(await client.closed, 1000)
  }
  const shown = (values: number[]) => `${Math.round(median(values))} ms (${values.map(Math.round).join(', ')})`
  t.comment(`first partial after the first sound ${shown(firstMs)}; final after the endpoint ${shown(finalMs)}`)
  t.ok(median(firstMs) <= 800, 'first partial')
  t.ok(median(finalMs) <= 500, 'final')
})

t.test("the client's event `clear` ends speech within 100 ms at the median", async (t) => {
  const tookMs: number[] = []
  const long = 'This sentence is one of very many that nobody will ever hear to the end. '.repeat(40)
  const client = await start(parley, '/v1/synthesize/stream')
  for (let round = 0; round < 7; round++) {
    client.send({ type: 'text', text: long })
    await client.takeAudio()
    const askedMs = performance.now()
    client.send({ type: 'clear' })
    const cleared = await client.take('cleared')
    tookMs.push(client.received.find(({ frame }) => frame === cleared)!.atMs - askedMs)
  }
  t.comment(`cleared after ${median(tookMs).toFixed(1)} ms at the median, ${Math.max(...tookMs).toFixed(1)} at most`)
  t.ok(median(tookMs) <= 100)
  client.send({ type: 'end' })
  await client.closed
})

t.test('a short sentence is audible within 400 ms, and a cancelled sentence soon frees its process', async (t) => {
  const local = openLocal(t)
  const times: number[] = []
  await local.speak('The engine is loaded.')
  for (let i = 0; i < 5; i++) {
    const startedMs = performance.now()
    await local.speak('How can I help you today?')
    times.push(performance.now() - startedMs)
  }
  t.comment(`first audio after ${Math.round(median(times))} ms`)
  t.ok(median(times) <= 400)
  const leaving = new AbortController()
  const dropped = outcome(local.speak('The quick brown fox jumps over the lazy dog, '.repeat(6), leaving))
  leaving.abort()
  t.match(await dropped, /^cancelled/)
  const startedMs = performance.now()
  await local.speak('Yes.')
  t.ok(performance.now() - startedMs <= 1000)
})

async function speechFinal(client: Client) {
  for (;;) {
    const frame = await client.take('transcript')
    if (frame['speechFinal']) return frame
  }
}

/** Sends 20 ms at 8 kHz, s16le, every 20 ms. The clock decides when, because the delays from sleeps would add up. */
async function feedPaced(client: Client, bytes: Buffer): Promise<void> {
  const beginMs = performance.now()
  for (let at = 0, dueMs = beginMs; at < bytes.length; at += 320, dueMs += 20) {
    await sleep(Math.max(0, dueMs + 20 - performance.now()))
    client.sendBytes(bytes.subarray(at, at + 320))
  }
}

/** Returns where speech starts in a recording: its first 20 ms at a thirtieth of full scale or more. */
function onsetMs(pcm: Buffer): number {
  for (let at = 0; at < pcm.length; at += 320) {
    let sum = 0
    for (let i = at; i < Math.min(at + 320, pcm.length); i += 2) sum += pcm.readInt16LE(i) ** 2
    if (Math.sqrt(sum / 160) > 1000) return at / 16
  }
  return 0
}
