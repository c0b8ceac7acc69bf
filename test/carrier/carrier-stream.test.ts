/** A leg's audio passes between a carrier and a conversation, with frames in snake_case and in camelCase. */
import { rmSync } from 'node:fs'
import t from 'tap'
import { FrameResampler } from '../../audio/frame-resampler.ts'
import { pcmu } from '../../audio/line-codec.ts'
import { ChunkOrder } from '../../handlers/carrier/chunk-order.ts'
import { likenessOf } from '../audio/likeness.ts'
import { until } from '../http/harness.ts'
import type { RecordingSink } from '../session/media-harness.ts'
import { readFixture } from '../speech/fixtures.ts'
import { temporaryFolder } from '../store/cluster.ts'
import { CarrierSocket, legId, opened, quiet, serveStreams, starts, streamId } from './setup.ts'
import { formats } from './stream-formats.ts'

const voice8k = voice()
const voice16k = new FrameResampler(8000, 16_000).convert(voice8k).slice()
const frameMs = 20

for (const { title, frame, codec, rateHz, outgoing, outgoingHz } of formats) {
  for (const sessionHz of [8000, 16_000, 24_000] as const) {
    t.test(`audio arrives in both directions: ${title}, a conversation at ${sessionHz} Hz`, async (t) => {
      const streams = await serveStreams(t, { line8k: outgoingHz === 8000 })
      const { carrier, sink } = await streams.begin(frame, sessionHz)
      const sent = rateHz === 8000 ? voice8k : voice16k
      const received = samplesOf(sink)
      const bytes = new Uint8Array((rateHz / 1000) * frameMs * codec.bytesPerSample)
      for (const piece of pieces(sent, (rateHz / 1000) * frameMs)) {
        await streams.clock.advance(frameMs)
        carrier.media(bytes.subarray(0, codec.encode(piece, bytes)))
        await until(() => received.length > 0)
      }
      const expected = (sent.length / rateHz) * sessionHz
      await until(() => received.length >= expected - sessionHz / 100)
      t.ok(likeness(at8k(Int16Array.from(received), sessionHz)) > 0.97)

      const reply = new FrameResampler(8000, sessionHz).convert(voice8k).slice()
      // If the conversation has 8 kHz, its audio goes to the phone line unchanged.
      const [wireCodec, wireHz] = sessionHz === 8000 ? [pcmu, 8000] : [outgoing, outgoingHz]
      for (const piece of pieces(reply, (sessionHz / 1000) * frameMs)) sink.transport.frame(piece)
      const length = Math.floor(reply.length / ((sessionHz / 1000) * frameMs))
      await until(() => carrier.of('media').length === length)
      const payloads = carrier.of('media').map(({ media }) => Buffer.from(media!.payload, 'base64').length)
      t.same(new Set(payloads), new Set([(wireHz / 1000) * frameMs * wireCodec.bytesPerSample]), '20 ms in each frame')
      const decoded = new Int16Array(voice16k.length)
      const back = carrier.payloads()
      const count = wireCodec.decode(back, back.length, decoded)
      t.ok(likeness(at8k(decoded.subarray(0, count), wireHz)) > 0.97)
      const named = carrier.frames.every(
        ({ streamSid }) => streamSid === (title === 'camel case' ? streamId : undefined),
      )
      t.ok(named, 'the stream is named where the carrier wants it')
    })
  }
}

t.test("the start message of a carrier's audio stream has the carrier's id of the leg", async (t) => {
  const streams = await serveStreams(t)
  await streams.begin(starts.snake('PCMU', 8000))
  await streams.begin(starts.camel('audio/x-mulaw', 8000))
  await streams.begin({
    event: 'start',
    stream_id: streamId,
    start: { media_format: { encoding: 'PCMU', sample_rate: 8000 } },
  })
  t.same(streams.names, ['v3:abc', 'CA1', undefined])
})

t.test('frames that arrive out of order are put in order, and a missing frame is skipped after a while', async (t) => {
  const streams = await serveStreams(t)
  const { carrier, sink } = await streams.begin(starts.snake('L16', 8000), 8000)
  const received = samplesOf(sink)
  const send = (chunk: number) => carrier.media(Buffer.from([0, chunk]), chunk)
  for (const chunk of [1, 3, 2, 4, 6, 7, 5, 8, 8, 2]) send(chunk)
  await until(() => received.length === 8)
  t.same(received, [1, 2, 3, 4, 5, 6, 7, 8], 'repeated and late ones are dropped')
  for (const chunk of [10, 11, 12]) send(chunk)
  await quiet()
  t.equal(received.length, 8, 'the missing one is waited for')
  send(13)
  await until(() => received.length === 12)
  t.same(received.slice(8), [10, 11, 12, 13], 'for 80 ms')
  send(9)
  for (const chunk of [15, 14]) send(chunk)
  await until(() => received.length === 14)
  t.same(received.slice(12), [14, 15])
  send(17)
  carrier.send({ event: 'stop', stream_id: streamId, stop: {} })
  await until(() => sink.calls.length > 0)
  t.same(received.slice(14), [17], 'what waits is passed on at the end')
  t.same(sink.calls, [['gone']])
  t.equal(await carrier.closed, 1000)
})

t.test('frames that arrive in any order within the window are put in order', (t) => {
  let seed = 7
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31
  for (let run = 0; run < 300; run++) {
    const delivered: number[] = []
    const order = new ChunkOrder((payload) => delivered.push(Number(payload)))
    const first = Math.floor(random() * 1000)
    const all = Array.from({ length: 60 }, (_, i) => first + i)
    // A chunk arrives at most three positions late.
    const arrival = all.map((chunk, i) => ({ chunk, at: i === 0 ? -1 : i + random() * 3 })).sort((a, b) => a.at - b.at)
    for (const { chunk } of arrival) order.push(chunk, String(chunk))
    order.flush()
    t.same(delivered, all)
  }
  const delivered: string[] = []
  const order = new ChunkOrder((payload) => delivered.push(payload))
  for (const chunk of [5, 6, 1_000_000, 1_000_001, 1, 2, Number.MAX_SAFE_INTEGER, 3]) order.push(chunk, String(chunk))
  t.same(delivered.length, 8, 'a new count begins, however far it is')
  t.end()
})

t.test('DTMF keys reach the conversation, and other audio tracks and unknown frames are ignored', async (t) => {
  const streams = await serveStreams(t)
  const { carrier, sink } = await streams.begin(starts.snake('PCMU', 8000))
  carrier.media(Buffer.alloc(160), 1, 'outbound')
  carrier.send({ event: 'surprise', text: 'new' })
  carrier.send({ event: 'error', payload: { code: 100_003, title: 'invalid_media', detail: 'secret' } })
  carrier.send({ event: 'media', media: { chunk: 'x', payload: '' } })
  carrier.send({ event: 'media', media: {} })
  for (const digit of ['1', '#', 'D']) carrier.send({ event: 'dtmf', stream_id: streamId, dtmf: { digit } })
  await until(() => sink.calls.length === 3)
  t.same(sink.calls, [
    ['dtmf', '1'],
    ['dtmf', '#'],
    ['dtmf', 'D'],
  ])
  t.equal(sink.samplesCount, 0)
  t.same(streams.logged, [{ legId, code: 100_003 }], 'the first complaint is logged, and nothing of its text')
})

t.test('marks that the carrier returns count as played, unless a clear command caused their return', async (t) => {
  const streams = await serveStreams(t)
  const { carrier, sink } = await streams.begin(starts.snake('PCMU', 8000))
  const { transport } = sink
  const frame = new Int16Array(320)
  const speak = (ms: number) => {
    for (let at = 0; at < ms; at += frameMs) transport.frame(frame)
  }
  const names = () => carrier.of('mark').map(({ mark }) => mark!.name)
  const give = (name: string | undefined) => carrier.send({ event: 'mark', stream_id: streamId, mark: { name } })
  speak(100)
  transport.mark('a:100')
  speak(100)
  transport.mark('a:200')
  speak(100)
  transport.mark('a:300')
  await until(() => names().length === 3)
  await streams.clock.advance(110)
  give(names()[0])
  await until(() => sink.calls.length === 1)
  t.same(sink.calls, [['played', 'a:100']])
  await streams.clock.advance(60)
  transport.clear()
  await until(() => sink.calls.length === 2)
  t.same(sink.calls[1], ['cleared', 'a:100', 60], 'counted from the mark that came back')
  await until(() => carrier.of('clear').length === 1)
  for (const name of names().slice(1)) give(name)
  // The same audio is sent again, and its marks get the same names.
  speak(100)
  transport.mark('a:200')
  await until(() => names().length === 4)
  await quiet()
  t.equal(sink.calls.length, 2, 'marks that were dropped are not played')
  await streams.clock.advance(100)
  give(names()[3])
  await until(() => sink.calls.length === 3)
  t.same(sink.calls[2], ['played', 'a:200'])
  await streams.clock.advance(5000)
  transport.clear()
  await until(() => sink.calls.length === 4)
  t.same(sink.calls[3], ['cleared', 'a:200', 0], 'no more than was sent')
  speak(200)
  transport.mark('b:200')
  await streams.clock.advance(230)
  transport.clear()
  await until(() => sink.calls.length === 5)
  t.same(sink.calls[4], ['cleared', 'b:200', 0], 'a mark whose return is on its way was played')
})

t.test('the token in the URL of an audio stream is accepted once, and only for its leg', async (t) => {
  const streams = await serveStreams(t)
  const refused = async (url: string) => {
    const carrier = new CarrierSocket(url)
    return opened(carrier).then(
      () => 'opened',
      (error: Error) => error.message,
    )
  }
  const { url, token } = streams.expect()
  for (const wrong of ['', '?token=', `?token=${token}x`, `?token=one.${'A'.repeat(32)}`, '?token=../../etc.passwd'])
    t.equal(await refused(url + wrong), '401')
  t.equal(await refused(`${url.replace(legId, 'leg_other')}?token=${token}`), '401', 'another leg')
  t.equal(await refused(`${url}?token=two.${'A'.repeat(32)}`), '503', 'a process that does not run')
  const [first, second] = [
    streams.dial({ url, token, sampleRateHz: 8000 }),
    streams.dial({ url, token, sampleRateHz: 8000 }),
  ]
  await Promise.allSettled([opened(first), opened(second)])
  first.send(starts.snake('PCMU', 8000))
  if (second.socket.readyState === second.socket.OPEN) second.send(starts.snake('PCMU', 8000))
  await until(() => streams.sinks.length === 1)
  await quiet()
  t.equal(streams.sinks.length, 1, 'two sockets at once are one stream')
  t.equal(await refused(`${url}?token=${token}`), '401', 'the token is spent')

  const older = streams.expect()
  const newer = streams.expect()
  t.equal(await refused(`${older.url}?token=${older.token}`), '401', 'a newer address of the leg takes its place')
  streams.legs.forget(legId)
  t.equal(await refused(`${newer.url}?token=${newer.token}`), '401', 'the leg is over')
  t.same(streams.failed, [], 'the refused sockets did not reach the leg')
})

t.test('sockets of a carrier are exempt from the request quota of an IP address', async (t) => {
  const edgeQuota = { requests: 1, windowS: 86_400, trustedProxies: [], addressesMax: 10 }
  const streams = await serveStreams(t, { edgeQuota })
  for (let calls = 1; calls <= 3; calls++) await streams.begin(starts.snake('PCMU', 8000))
  t.equal(streams.sinks.length, 3)
})

t.test('a leg is notified if its audio stream does not begin', async (t) => {
  const streams = await serveStreams(t)
  const late = streams.dial(streams.expect())
  await opened(late)
  await streams.clock.advance(10_500)
  t.equal(await late.closed, 1008)
  const unknown = streams.dial(streams.expect())
  await opened(unknown)
  unknown.send(starts.snake('OPUS', 48_000))
  t.equal(await unknown.closed, 1008)
  const gone = streams.dial(streams.expect())
  await opened(gone)
  gone.socket.terminate()
  await until(() => streams.failed.length === 3)
  t.same(streams.failed, ['late', 'encoding', 'closed'])
  t.equal(streams.clock.timers, 0, 'no timer is left')
})

t.test('the end of a conversation ends the stream, and the end of a stream ends the conversation', async (t) => {
  const streams = await serveStreams(t)
  const first = await streams.begin(starts.snake('PCMU', 8000))
  first.sink.transport.close('agent_hangup', null)
  t.equal(await first.carrier.closed, 1000)
  first.sink.transport.frame(new Int16Array(320))
  first.sink.transport.mark('x')
  first.sink.transport.clear()
  await quiet()
  t.same(first.sink.calls, [], 'a conversation that has ended is not called')
  const second = await streams.begin(starts.snake('PCMU', 8000))
  second.carrier.socket.terminate()
  await until(() => second.sink.calls.length > 0)
  t.same(second.sink.calls, [['gone']])
})

t.test('a socket stays open after random and broken frames of the carrier', async (t) => {
  const streams = await serveStreams(t)
  const { carrier, sink } = await streams.begin(starts.snake('PCMU', 8000))
  let seed = 11
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  const any = [null, true, -1, 1e300, '', 'x', '\u0000', '9'.repeat(16), [], {}, 'A'.repeat(5_000), '////', '\ud800']
  const value = () => any[random(any.length)]
  const events = ['connected', 'start', 'media', 'dtmf', 'mark', 'error', 'constructor', '']
  for (let i = 0; i < 2000; i++) {
    const event = random(10) === 0 ? value() : events[random(events.length)]
    const inner = { chunk: value(), payload: value(), track: value(), digit: value(), name: value(), code: value() }
    const field = random(10) === 0 ? value() : inner
    carrier.send({
      event,
      stream_id: value(),
      streamSid: value(),
      media: field,
      dtmf: field,
      mark: field,
      payload: field,
      start: field,
    })
  }
  for (const text of ['', '[', '{"event":"media"', '[]', 'null', '{"event":{"toString":1}}']) carrier.socket.send(text)
  carrier.socket.send(Buffer.alloc(100))
  carrier.send({ event: 'dtmf', dtmf: { digit: '5' } })
  await until(() => sink.calls.length > 0)
  t.same(sink.calls, [['dtmf', '5']], 'the stream goes on')
  t.ok(streams.logged.length <= 1, 'the log is not filled')
})

t.test('a stream that reaches another process is passed on to the process that expects it', async (t) => {
  const dataDir = temporaryFolder()
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const owner = await serveStreams(t, { relay: { dataDir, name: 'one', socketsMax: 2 } })
  const entrance = await serveStreams(t, { relay: { dataDir, name: 'two', socketsMax: 2 }, ownerId: 'two' })
  const { token } = owner.expect()
  const carrier = new CarrierSocket(
    `${entrance.server.url.replace('http', 'ws')}/carrier/media/${legId}?token=${token}`,
  )
  await opened(carrier)
  carrier.send(starts.snake('PCMU', 8000))
  await until(() => owner.sinks.length === 1)
  const [sink] = owner.sinks
  carrier.media(new Uint8Array(160).fill(0x7f))
  await until(() => sink?.samplesCount === 320)
  sink?.transport.frame(new Int16Array(320))
  await until(() => carrier.of('media').length === 1)
  t.equal(entrance.sinks.length, 0)
  sink?.transport.close('agent_hangup', null)
  t.equal(await carrier.closed, 1000)
})

t.test('if a carrier sends a minute of audio at once, only about 2 s of the audio are accepted', async (t) => {
  const streams = await serveStreams(t)
  const { carrier, sink } = await streams.begin(starts.snake('PCMU', 8000), 8000)
  const minute = 60_000 / frameMs
  for (let i = 0; i < minute; i++) carrier.media(new Uint8Array(160))
  carrier.send({ event: 'dtmf', dtmf: { digit: '9' } })
  await until(() => sink.calls.length === 1)
  t.ok(sink.samplesCount <= 8000 * 2.1, `${sink.samplesCount} samples`)
})

function voice(): Int16Array {
  const wav = readFixture('please-try-call-later')
  return new Int16Array(wav.slice(44).buffer)
}

function* pieces(samples: Int16Array, length: number): Generator<Int16Array> {
  for (let at = 0; at + length <= samples.length; at += length) yield samples.subarray(at, at + length)
}

function samplesOf(sink: RecordingSink): number[] {
  const received: number[] = []
  sink.onAudio = (samples) => received.push(...samples)
  return received
}

const at8k = (samples: Int16Array, rateHz: number) => new FrameResampler(rateHz, 8000).convert(samples).slice()

/** Returns how similar one second of the voice is to the best matching part of the received audio. */
function likeness(received: Int16Array): number {
  return likenessOf(voice8k.subarray(8000, 16_000), received)
}
