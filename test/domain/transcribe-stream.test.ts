import t from 'tap'
import { FrameBuffer } from '../../domain/speech/frame-buffer.ts'
import { settled } from '../clock.ts'
import { isClean } from './fake-llm.ts'
import { frame, pcm16, prices, setup, words } from './fake-stt-stream.ts'
import { caller, failure, model } from './fakes.ts'

t.test('a transcription stream fails over until a provider is connected, and then sends transcripts', async (t) => {
  const all = setup([failure('server'), 'opens'], { prices })
  const live = all.begin()
  t.same(all.sink.events, [], 'no event comes before the stream is open')
  await settled()
  t.same(all.sink.events, ['ready b'], 'it fails over until one has opened')
  t.match(all.sink.route, { provider: 'b', failovers: 1 })
  const stream = all.stream()
  stream.onAudio = () => stream.sink.transcript(words('one', { isFinal: false }))
  live.audio(frame)
  t.equal(all.sink.events.at(-1), 'one', 'a transcript may come while audio() runs')
  stream.sink.speechStarted(5)
  live.flush()
  live.end()
  live.audio(frame)
  live.flush()
  live.end()
  t.same(stream.calls, ['flush', 'end'])
  stream.sink.transcript(words('one.'))
  stream.sink.ended()
  stream.sink.transcript(words('late'))
  t.same(all.sink.events, ['ready b', 'one', 'speech 5', 'one.', 'ended'])
  t.same(all.sink.usage, { durationMs: 20, costMicroUsd: 20 })
  t.equal(all.ledger.settlements.length, 1)
  t.match(all.ledger.last, {
    status: 'succeeded',
    reservedMicroUsd: 60_000,
    row: {
      operation: 'transcribeStream',
      quantities: [{ unit: 'audio_milliseconds', amount: 20 }],
      costMicroUsd: 20,
    },
  })
  isClean(t, all)
})

t.test('the provider gets the options of a transcription stream', async (t) => {
  const capabilities = { ...model('stt').capabilities, keywords: true, prompt: true, word_timestamps: true }
  const all = setup(['opens'], { capabilities, languages: ['es'] })
  all.begin({ language: 'es-MX', keywords: ['k'], prompt: 'p', words: true, endpointingMs: 300, interimResults: false })
  await settled()
  const { request, sink } = all.stream()
  t.same(request, {
    model: 'm',
    audio: pcm16,
    interimResults: false,
    words: true,
    language: 'es',
    endpointingMs: 300,
    keywords: ['k'],
    prompt: 'p',
  })
  sink.transcript(words('partial', { isFinal: false }))
  t.same(all.sink.events, ['ready a'], 'interims come only where they were asked for')

  for (const [extra, kind] of [
    [{ words: true }, 'capability_missing'],
    [{ language: 'de' }, 'language_unsupported'],
    [{ audio: { encoding: 'opus', sampleRateHz: 48_000, channels: 1 } }, 'encoding_unsupported'],
  ] as const) {
    const audioFormats = [{ encoding: 'pcm_s16le', channels: [1] }]
    const refused = setup(['opens'], { languages: ['en'], audioFormats })
    refused.begin(extra)
    await settled()
    t.match(refused.sink.fault, { kind })
    isClean(t, refused)
  }
  const plain = setup(['opens'])
  plain.begin({ keywords: ['k'], prompt: 'p' })
  await settled()
  t.equal(plain.sink.ignored.join(), 'keywords,prompt', 'hints that a model cannot take are named')
  t.notMatch(plain.stream().request, { prompt: String })
  t.notMatch(plain.stream().request, { keywords: Array })

  const batch = setup(['opens'], { capabilities: { ...model('stt').capabilities, streaming: false } })
  batch.begin()
  await settled()
  t.match(batch.sink.fault, { data: { kind: 'capability_missing', capability: 'streaming' } })
  const malformed = setup(['opens'])
  malformed.begin({ language: 'no such' })
  t.same(malformed.sink.events, [], 'not before the stream is returned')
  await settled()
  t.match(malformed.sink.fault, { kind: 'bad_language_tag' })
})

t.test('audio that arrives before the provider is connected is buffered and then sent', async (t) => {
  const all = setup(['hangs', 'opens'])
  const live = all.begin()
  live.audio(Uint8Array.of(1, 2, 3))
  live.flush()
  live.audio(Uint8Array.of(4, 5, 6, 7))
  live.end()
  await settled()
  await all.clock.advance(500)
  t.same(all.asked, ['a', 'b'], 'a provider that does not open in time is passed over')
  t.same(
    all.stream().taken,
    [
      [1, 2],
      [3, 4, 5, 6],
    ],
    'half a sample waits for the rest of it',
  )
  t.same(all.stream().calls, ['flush', 'end'])
  all.stream().sink.ended()
  t.match(all.sink.usage, { durationMs: 0, costMicroUsd: 0 })
  isClean(t, all)

  const full = setup(['hangs'])
  const fast = full.begin()
  for (let i = 0; i < 11; i++) fast.audio(frame)
  t.same(full.sink.events, ['failed audio_too_fast'])
  t.match(full.sink.fault?.data, { kind: 'audio_too_fast' })
  await settled()
  isClean(t, full)
  t.same(full.sink.events, ['failed audio_too_fast'], 'once')

  const late = setup(['hangs'])
  const spoken = late.begin()
  for (let i = 0; i < 11; i++) {
    await late.clock.advance(20)
    spoken.audio(frame)
  }
  t.same(late.sink.events, ['failed timed_out'], 'a client that sends in real time is not told to be slower')

  const within = setup(['opens'])
  const early = within.begin()
  early.audio(Uint8Array.of(1, 1))
  within.sink.onReady = () => early.audio(Uint8Array.of(2, 2))
  await settled()
  early.audio(Uint8Array.of(3, 3))
  t.same(
    within.stream().taken,
    [
      [1, 1],
      [2, 2],
      [3, 3],
    ],
    'audio that is sent while ready runs keeps its place',
  )
})

t.test('a transcription stream fails if no provider accepts the connection', async (t) => {
  const all = setup([failure('server'), failure('overloaded')])
  all.begin()
  await settled()
  t.match(all.sink.fault, { kind: 'all_failed', detail: { attempts: [{}, {}] } })
  t.match(all.ledger.last, { status: 'failed', row: { quantities: [], costMicroUsd: 0 } })
  isClean(t, all)
})

t.test('if the provider breaks its stream or never ends it, the transcription stream fails', async (t) => {
  for (const replay of [false, true]) {
    const all = setup(['opens', 'opens'], { prices })
    const live = all.begin({ replay })
    await settled()
    live.audio(frame)
    all.stream().sink.transcript(words('heard'))
    all.stream().sink.failed(failure('server'))
    t.same(all.sink.events, ['ready a', 'heard', 'failed stream_broken'], 'there is no failover after a transcript')
    t.match(all.ledger.last.row, { costMicroUsd: 20 }, 'the audio that was transcribed is billed')
    t.same(all.stream().calls, ['close'])
    await settled()
    isClean(t, all)
  }
  const mute = setup(['opens'], { prices })
  mute.begin().audio(frame)
  await settled()
  mute.stream().sink.ended()
  t.match(mute.sink.fault, { kind: 'stream_broken' }, 'a stream that ended without end()')
  t.match(mute.ledger.last.row, { costMicroUsd: 0 }, 'a provider that sent no transcript is not paid')
  isClean(t, mute)

  const silent = setup(['opens'])
  silent.begin().end()
  await settled()
  await silent.clock.advance(2000)
  t.match(silent.sink.fault, { kind: 'timed_out' }, 'a provider that does not end')
  isClean(t, silent)

  const long = setup(['opens'], {}, { totalMs: 60_000 })
  long.begin()
  await settled()
  await long.clock.advance(60_000)
  t.match(long.sink.fault, { kind: 'timed_out' }, 'the longest stream')
  isClean(t, long)
})

t.test('with `replay`, buffered audio is sent to one other provider if the first provider fails', async (t) => {
  const all = setup(['opens', 'opens', 'opens'], {}, { aheadMsMax: 60_000 })
  const live = all.begin({ replay: true })
  await settled()
  for (let i = 0; i < 600; i++) live.audio(frame)
  all.stream(0).sink.failed(failure('server'))
  live.audio(Uint8Array.of(9, 9))
  live.flush()
  await settled()
  t.same(all.sink.events, ['ready a', 'ready b'])
  t.match(all.sink.route, { provider: 'b', failovers: 1 })
  const second = all.stream(1)
  t.equal(second.bytes, 320_000 + 2, 'the last 10 s and the audio that came in the meantime')
  t.same(second.taken.at(-1), [9, 9])
  t.same(second.calls, ['flush'])
  all.stream(0).sink.transcript(words('of the old one'))
  second.sink.transcript(words('again', { startMs: 100, words: [{ text: 'again', startMs: 100, endMs: 120 }] }))
  t.match(all.sink.transcripts, [{ text: 'again', startMs: 2100, words: [{ startMs: 2100 }] }])
  live.end()
  second.sink.ended()
  t.match(all.sink.usage, { durationMs: 10_000 })
  t.equal(all.ledger.settlements.length, 1, 'one row for the request')
  t.same(all.attempts, ['a/m server', 'b/m succeeded'])
  isClean(t, all)

  const twice = setup(['opens', 'opens', 'opens'])
  const another = twice.begin({ replay: true })
  await settled()
  another.audio(frame)
  another.end()
  twice.stream(0).sink.failed(failure('server'))
  await settled()
  t.same(twice.stream(1).calls, ['end'], 'end is repeated')
  twice.stream(1).sink.failed(failure('server'))
  await settled()
  t.same(twice.sink.events, ['ready a', 'ready b', 'failed stream_broken'])
  isClean(t, twice)

  const alone = setup(['opens'])
  alone.begin({ replay: true }).audio(frame)
  await settled()
  alone.stream().sink.failed(failure('server'))
  await settled()
  t.same(alone.sink.events, ['ready a', 'failed all_failed'], 'the provider that failed is not tried again')
  isClean(t, alone)
})

t.test('if a provider does not keep up with the audio, the stream fails', async (t) => {
  const all = setup(['opens'])
  const live = all.begin()
  await settled()
  all.stream().bufferedBytes = 32_001
  live.audio(frame)
  t.same(all.sink.events, ['ready a', 'failed audio_too_fast'])
  isClean(t, all)
})

t.test('a client that leaves receives no further event, and the usage is settled', async (t) => {
  const all = setup(['opens'], { prices })
  const live = all.begin()
  await settled()
  live.audio(frame)
  live.leave()
  live.leave()
  live.audio(frame)
  t.same(all.sink.events, ['ready a'])
  t.match(all.ledger.last, { status: 'failed', row: { costMicroUsd: 20 } })
  t.ok(all.stream().signal.aborted)
  t.equal(all.ledger.settlements.length, 1)
  isClean(t, all)

  // A stream of a priced model first waits for the credit reservation, so the client can leave before the provider is
  // asked.
  const early = setup(['hangs', 'opens'], { prices })
  early.credit.balance = 130_000
  early.begin().leave()
  await settled()
  t.same(early.asked, [], 'no further provider is tried')
  t.same(early.sink.events, [])
  isClean(t, early)

  const opening = setup(['hangs', 'opens'])
  const waiting = opening.begin()
  await settled()
  waiting.leave()
  await settled()
  t.same(opening.asked, ['a'])
  t.same(opening.sink.events, [])
  isClean(t, opening)

  const gone = setup(['opens'])
  const client = new AbortController()
  gone.begin({ signal: client.signal })
  await settled()
  client.abort()
  t.match(gone.sink.fault, { kind: 'cancelled' })
  isClean(t, gone)
})

t.test('transcription streams count against the concurrency limit of an API key', async (t) => {
  const all = setup(['opens'])
  const one = caller({ maxConcurrency: 1 })
  const first = all.begin({ caller: one })
  await settled()
  all.begin({ caller: one })
  await settled()
  t.same(all.sink.events, ['ready a', 'failed too_many_at_once'])
  first.leave()
})

t.test('half an hour of audio needs no more memory than a short stream', async (t) => {
  const all = setup(['opens'], {}, { pendingBytesMax: 64_000 })
  const live = all.begin()
  await settled()
  const stream = all.stream()
  stream.keepsAudio = false
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 90_000; i++) live.audio(frame)
  t.equal(stream.bytes, 90_000 * 640)
  t.ok(process.memoryUsage().arrayBuffers - before < 1_000_000)
  live.end()
  stream.sink.ended()
  t.match(all.sink.usage, { durationMs: 1_800_000 })
})

t.test('the length of an Opus packet is read from the packet', async (t) => {
  const all = setup(['opens'])
  const live = all.begin({ audio: { encoding: 'opus', sampleRateHz: 48_000, channels: 1 } })
  await settled()
  live.audio(Uint8Array.of(0x78, 1, 2)) // CELT, 20 ms, one frame; unlike samples, a packet may have an odd length
  live.audio(Uint8Array.of(0x0b, 0x03)) // SILK, 20 ms, three frames
  live.end()
  all.stream().sink.ended()
  t.match(all.sink.usage, { durationMs: 80 })
  t.equal(all.stream().taken.length, 2)
})

t.test('the frame buffer keeps frames whole when it wraps around', (t) => {
  const buffer = new FrameBuffer(20)
  const frames = (...each: number[][]) => each
  t.equal(buffer.peek(), null)
  for (let i = 0; i < 50; i++) {
    const [a, b] = frames([i, i + 1, i + 2], [i, i + 3])
    t.ok(buffer.push(Uint8Array.from(a ?? [])))
    t.ok(buffer.push(Uint8Array.from(b ?? [])))
    t.notOk(buffer.push(new Uint8Array(4)))
    t.same([...(buffer.peek() ?? [])], a)
    buffer.drop()
    t.same([...(buffer.peek() ?? [])], b)
    buffer.drop()
    t.ok(buffer.isEmpty)
  }
  t.end()
})
