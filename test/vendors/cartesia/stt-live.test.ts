/** The requests to Cartesia Ink, and how its events become transcripts. */
import t, { type Test } from 'tap'
import type { Encoding } from '../../../audio/format.ts'
import type { ErrorClass, ProviderError } from '../../../domain/ports/provider-error.ts'
import type { StreamTranscript, SttStreamRequest } from '../../../domain/ports/stt.ts'
import { cartesiaModels } from '../../../providers/cartesia/models.ts'
import { liveVendor } from '../../../providers/cartesia/stt-live.ts'
import { classOfFrame, wire } from '../../../providers/cartesia/wire.ts'
import { classOfCloseCode } from '../../../providers/wire/failures.ts'
import { LiveSttStream } from '../../../providers/wire/live-stt.ts'
import { outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { systemClock } from '../../../runtime/timing/clock.ts'
import { never, present, providerErrorOf } from '../suite/given.ts'
import { ScriptedSocket } from '../suite/scripted-socket.ts'
import { rawRecording, recordingMs, recordingPcm } from '../suite/stt.ts'
import { sendJson, startStub, transcriptOf } from '../suite/stub-server.ts'
import { apiKey, provider } from './setup.ts'
import { formOf, startCartesiaStub, urlOf } from './stub.ts'

const unsupported = { errorClass: 'unsupported', sent: false }
const audio = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 } as const
const request: SttStreamRequest = { model: 'ink-whisper', audio, interimResults: true, words: true }
/** 100 ms of audio. */
const frame = new Uint8Array(3200)

t.test('a recording is sent to Cartesia with its language and word times', async (t) => {
  const stub = await startCartesiaStub()
  const cartesia = provider(stub.url)
  t.teardown(() => stub.close())
  t.teardown(() => cartesia.close())
  const stt = present(cartesia.ports.speech?.stt, 'stt')
  const recording = rawRecording(recordingPcm)
  const full = await stt.transcribe(
    { model: 'ink-whisper', recording, language: 'jv', options: { wordTimestamps: true } },
    never,
  )
  const seen = present(stub.seen[0], 'request')
  t.match(seen, { method: 'POST', path: '/stt', headers: { 'cartesia-version': '2026-08-14' } })
  t.same((await formOf(seen)).fields, {
    model: 'ink-whisper',
    language: 'jw',
    'timestamp_granularities[]': 'word',
  })
  t.equal(full.language, 'jv', 'in its canonical form')
  t.same(full.segments, [{ text: transcriptOf(recordingPcm), startMs: 0, endMs: recordingMs }])
  t.same(
    full.words?.map(({ text, startMs, endMs }) => [text, startMs, endMs]),
    transcriptOf(recordingPcm)
      .split(' ')
      .map((word, i) => [word, i * 125, (i + 1) * 125]),
  )
  stub.behave('ok')
  const plain = await stt.transcribe({ model: 'ink-whisper', recording, options: {} }, never)
  t.same((await formOf(present(stub.seen[0], 'request'))).fields, { model: 'ink-whisper' })
  t.notOk('words' in plain)
  t.match(await providerErrorOf(stt.transcribe({ model: 'ink-2', recording, options: {} }, never)), unsupported)
})

t.test("if word times were requested, a recording's answer without word times is a failure", async (t) => {
  const other = await startStub({ http: (_, response) => sendJson(response, { type: 'transcript', text: 'Hello' }) })
  const cartesia = provider(other.url)
  t.teardown(() => other.close())
  t.teardown(() => cartesia.close())
  const order = { model: 'ink-whisper', recording: rawRecording(recordingPcm), options: { wordTimestamps: true } }
  const failure = await providerErrorOf(present(cartesia.ports.speech?.stt, 'stt').transcribe(order, never))
  t.match(failure, { errorClass: 'unsupported', sent: true })
})

t.test('a live session of Cartesia has its options in the query', async (t) => {
  const pathOf = (request: SttStreamRequest) => Promise.resolve(request).then(liveVendor)
  const queryOf = ({ path }: { path: string }) => [...urlOf({ path } as never).searchParams]
  const mulaw = { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 } as const
  const asked = { keywords: ['Parley', 'SIP'], endpointingMs: 300 }
  t.same(queryOf(liveVendor(request)), [
    ['model', 'ink-whisper'],
    ['encoding', 'pcm_s16le'],
    ['sample_rate', '16000'],
  ])
  t.same(queryOf(liveVendor({ ...request, audio: mulaw, language: 'nb', endpointingMs: 300 })), [
    ['model', 'ink-whisper'],
    ['encoding', 'pcm_mulaw'],
    ['sample_rate', '8000'],
    ['language', 'no'],
    ['max_silence_duration_secs', '0.3'],
  ])
  t.same(queryOf(liveVendor({ ...request, ...asked, model: 'ink-2', language: 'en' })), [
    ['model', 'ink-2'],
    ['encoding', 'pcm_s16le'],
    ['sample_rate', '16000'],
    ['keyterm', 'Parley'],
    ['keyterm', 'SIP'],
    ['turn_end_timeout_ms', '640'],
  ])
  const tooMany: string[] = Array.from({ length: 101 }, (_, i) => `term ${i}`)
  for (const changes of [
    { keywords: tooMany },
    { keywords: ['x'.repeat(601), 'y'.repeat(600)] },
    { audio: { ...audio, encoding: 'opus' as const } },
  ])
    t.match(await providerErrorOf(pathOf({ ...request, model: 'ink-2', ...changes })), unsupported)
})

t.test('pieces of a Cartesia transcript are joined to utterances, with the spaces between words', async (t) => {
  const { script, reported, stream } = await scripted(t, request)
  const words = [{ words: ['Hello', 'there,'], start: [0.1, 0.5], end: [0.4, 0.9] }]
  for (let i = 0; i < 10; i++) stream.audio(frame)
  script.say({ type: 'transcript', text: 'Hel', is_final: false })
  stream.flush()
  script.say({ type: 'transcript', text: 'Hello there,', is_final: true, duration: 1, words, language: 'tl' })
  script.say({ type: 'transcript', text: ' Bo', is_final: true, duration: 0 })
  script.say({ type: 'transcript', text: 'b.', is_final: true, duration: 0 })
  script.say({ type: 'flush_done' })
  stream.audio(frame)
  script.say({ type: 'transcript', text: ' It ended', is_final: true, duration: 0.1, words: [{ word: 'other' }] })
  stream.end()
  script.say({ type: 'transcript', text: 'Two', is_final: true })
  script.say({ type: 'transcript', text: ' more.', is_final: true })
  script.say({ type: 'transcript', text: '', is_final: true })
  script.say({ type: 'done' })
  t.same(
    reported.map((event) => (typeof event === 'string' ? event : [event.utterance, event.text, event.speechFinal])),
    [
      'speech',
      [0, 'Hel', false],
      [0, 'Hello there, Bob.', true],
      'speech',
      [1, 'It ended', true],
      'speech',
      [2, 'Two more.', true],
      'ended',
    ],
  )
  t.match(reported[2], {
    startMs: 100,
    endMs: 1000,
    language: 'fil',
    words: [{ text: 'Hello', endMs: 400 }, {}, {}, {}],
  })
  t.match(reported[4], { startMs: 1000, endMs: 1100 })
  t.same(script.sent, [...Array<number>(10).fill(3200), 'finalize', 3200, 'close'])
  t.notOk(script.isOpen)
})

t.test('each turn of Cartesia is reported as an utterance', async (t) => {
  const asked: SttStreamRequest = { ...request, model: 'ink-2', endpointingMs: 2000, language: 'en' }
  const { script, reported, stream } = await scripted(t, asked)
  stream.audio(frame)
  script.say({ type: 'turn.start' })
  stream.audio(frame)
  script.say({ type: 'turn.update', transcript: 'Hello' })
  script.say({ type: 'turn.update', transcript: 'Hello' })
  script.say({ type: 'turn.eager_end', transcript: 'Hello there' })
  script.say({ type: 'turn.resume' })
  stream.flush()
  stream.audio(frame)
  script.say({ type: 'turn.end', transcript: 'Hello there.' })
  script.say({ type: 'turn.start' })
  script.say({ type: 'turn.end', transcript: '' })
  script.say({ type: 'turn.start' })
  script.say({ type: 'turn.update', transcript: ' And' })
  stream.end()
  script.end(1000)
  t.same(
    reported.map((event) => (typeof event === 'string' ? event : [event.utterance, event.text, event.isFinal])),
    [
      'speech',
      [0, 'Hello', false],
      [0, 'Hello there', false],
      [0, 'Hello there.', true],
      'speech',
      'speech',
      [1, 'And', false],
      [1, 'And', true],
      'ended',
    ],
    'a turn that was left open is over',
  )
  t.match(reported[3], { startMs: 100, endMs: 300, speechFinal: true, language: 'en' })
  const config = (ms: number) => JSON.stringify({ type: 'config', turn: { end_timeout_ms: ms } })
  const [silence] = script.sent.filter((data) => typeof data === 'number' && data > frame.length)
  t.equal(silence, 25_600, 'which outlasts the least that a turn can be ended by')
  t.same(script.sent, [3200, 3200, config(640), silence, 3200, config(2000), '{"type":"close"}'])
})

t.test('each way in which a Cartesia stream breaks has its error class', async (t) => {
  const rows: [(script: ClosingSocket) => void, ErrorClass][] = [
    [(script) => script.end(1011), 'server'],
    [(script) => script.end(1013), 'overloaded'],
    [(script) => script.end(1000), 'protocol'],
    [(script) => script.say({ type: 'error', error_code: 'quota_exceeded', status_code: 402 }), 'quota'],
    [(script) => script.say({ type: 'transcript', is_final: true }), 'protocol'],
    [(script) => script.say({ type: 'turn.update' }), 'protocol'],
  ]
  for (const [row, [breaks, errorClass]] of rows.entries()) {
    const { script, reported } = await scripted(t, { ...request, model: row === 4 ? 'ink-whisper' : 'ink-2' })
    breaks(script)
    t.same(reported, [errorClass])
    t.notOk(script.isOpen)
  }
})

t.test('an error code of Cartesia decides the error class before the status does', (t) => {
  t.equal(wire.classify(429, { error_code: 'concurrency_limited' }), 'rate_limited')
  t.equal(wire.classify(403, { error_code: 'quota_exceeded' }), 'quota')
  t.equal(wire.classify(402, { error_code: 'plan_upgrade_required' }), 'quota')
  for (const error_code of [null, 'something_new', 7]) t.equal(wire.classify(400, { error_code }), null)
  t.equal(wire.classify(500, null), null, 'plain text')
  t.equal(classOfFrame({ error_code: null, status_code: 401 }), 'auth')
  t.equal(classOfFrame({ error_code: 'concurrency_limited', status_code: 500 }), 'rate_limited')
  t.equal(classOfFrame({ title: 'What the vendor says to people.' }), 'server')
  t.equal(classOfCloseCode(1006), null)
  t.end()
})

t.test('the catalog lists two Cartesia models for live recognition, with their audio formats', (t) => {
  const live = cartesiaModels.filter(({ stage, capabilities }) => stage === 'stt' && capabilities.streaming)
  t.equal(live.length, 2)
  const streamed: Encoding[] = ['pcm_s16le', 'mulaw', 'alaw', 'opus']
  for (const { id, audioFormats } of live)
    for (const encoding of streamed) {
      const support = audioFormats.find((format) => format.encoding === encoding)
      t.same(support?.channels, encoding === 'opus' ? undefined : [1], `${id} ${encoding}`)
    }
  t.end()
})

class ClosingSocket extends ScriptedSocket {
  #closed: ((code: number, reason: string) => void) | null = null

  override listen(listener: Parameters<ScriptedSocket['listen']>[0]): void {
    super.listen(listener)
    this.#closed = (code, reason) => listener.closed(code, reason)
  }

  end(code: number): void {
    this.#closed?.(code, '')
  }
}

/** An open stream whose server sends what the test requires. A failure is reported by its class. */
async function scripted(
  t: Test,
  request: SttStreamRequest,
): Promise<{
  script: ClosingSocket
  reported: (string | StreamTranscript)[]
  stream: LiveSttStream
}> {
  const script = new ClosingSocket()
  const reported: (string | StreamTranscript)[] = []
  const sink = {
    speechStarted: () => void reported.push('speech'),
    transcript: (transcript: StreamTranscript) => void reported.push(transcript),
    ended: () => void reported.push('ended'),
    failed: ({ errorClass }: ProviderError) => void reported.push(errorClass),
  }
  const parts = { socket: script, sink, signal: never, apiKey, clock: systemClock, limits: outboundDefaults }
  const stream = new LiveSttStream(parts, liveVendor(request))
  if (request.model === 'ink-2') script.say({ type: 'connected' })
  await stream.opened
  t.teardown(() => stream.close())
  return { script, reported, stream }
}
