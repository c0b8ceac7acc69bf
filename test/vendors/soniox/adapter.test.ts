import t from 'tap'
import type { StreamTranscript, SttStream, SttStreamRequest } from '../../../domain/ports/stt.ts'
import { createSonioxProvider } from '../../../providers/soniox/provider.ts'
import { liveVendor, startRequest } from '../../../providers/soniox/stt-live.ts'
import { LiveSttStream } from '../../../providers/wire/live-stt.ts'
import { type OutboundLimits, outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { systemClock } from '../../../runtime/timing/clock.ts'
import { TestClock } from '../../clock.ts'
import { never, until, vendorOptions } from '../suite/given.ts'
import { ScriptedSocket } from '../suite/scripted-socket.ts'
import { sttStreamSuite } from '../suite/stt-live.ts'
import { sinePcm, transcriptOf } from '../suite/stub-server.ts'
import { startSonioxStub } from './stub.ts'

const apiKey = 'sx-key-canary'
const provider = (baseUrl: string, limits: OutboundLimits = outboundDefaults) =>
  createSonioxProvider(vendorOptions('soniox', apiKey, baseUrl, limits))
const audio = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 } as const
const request: SttStreamRequest = { model: 'stt-rt-v5', audio, interimResults: true, words: true }

void t.test('Soniox passes the shared adapter tests for live recognition', async (t) => {
  const stub = await startSonioxStub()
  t.teardown(() => stub.close())
  await sttStreamSuite(t, { provider, stub, model: 'stt-rt-v5', apiKey })
})

void t.test('a live session of Soniox is configured with its options', async (t) => {
  const stub = await startSonioxStub()
  const soniox = provider(stub.url)
  t.teardown(() => stub.close())
  t.teardown(() => soniox.close())
  const sink = { speechStarted() {}, transcript() {}, ended() {}, failed() {} }
  const stream = await soniox.ports.speech?.stt?.open?.(request, sink, never)
  stream?.flush()
  stream?.end()
  await until(() => stub.seen[0]?.texts.length === 3, 'the end did not arrive')
  const [seen] = stub.seen
  t.match(seen, { path: '/transcribe-websocket', headers: { authorization: `Bearer ${apiKey}` } })
  t.same(seen?.texts.slice(1), ['{"type":"finalize"}', ''])
  const shared = { model: 'stt-rt-v5', num_channels: 1, enable_endpoint_detection: true }
  t.same(JSON.parse(seen?.texts[0] ?? ''), {
    ...shared,
    audio_format: 'pcm_s16le',
    sample_rate: 16_000,
    enable_language_identification: true,
  })
  const asked = { endpointingMs: 200, keywords: ['Parley'], prompt: 'A call.', language: 'fil' }
  t.same(startRequest({ ...request, ...asked, audio: { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 } }), {
    ...shared,
    audio_format: 'mulaw',
    sample_rate: 8000,
    max_endpoint_delay_ms: 500,
    language_hints: ['tl'],
    language_hints_strict: true,
    context: { terms: ['Parley'], text: 'A call.' },
  })
})

void t.test('a Soniox socket that was opened in advance is configured like any other socket', async (t) => {
  const stub = await startSonioxStub()
  const warmSockets = { perRoute: 1, socketsMax: 2, routeMs: 60_000 }
  const soniox = provider(stub.url, { ...outboundDefaults, warmSockets })
  t.teardown(() => stub.close())
  t.teardown(() => soniox.close())
  const samples = sinePcm(3200, 16_000)
  for (const session of [1, 2]) {
    const finals: string[] = []
    let isEnded = false
    const sink = {
      speechStarted() {},
      transcript: ({ text, isFinal }: StreamTranscript) => void (isFinal && finals.push(text)),
      ended: () => {
        isEnded = true
      },
      failed: (error: Error) => t.fail('failed', { error }),
    }
    const stream = await soniox.ports.speech?.stt?.open?.(request, sink, never)
    stream?.audio(samples)
    stream?.end()
    await until(() => isEnded, 'no end')
    t.same(finals, [transcriptOf(samples)])
    // The adapter opens one more socket for the next request.
    await until(() => stub.seen.length === session + 1, 'none was opened ahead')
  }
})

/** After this time without audio, a message keeps the socket open. */
const keepAliveMs = 8000

void t.test('tokens of Soniox are joined to utterances', async (t) => {
  const script = new ScriptedSocket()
  const reported: StreamTranscript[] = []
  const sink = {
    speechStarted() {},
    transcript: (transcript: StreamTranscript) => void reported.push(transcript),
    ended() {},
    failed: (error: Error) => t.fail('failed', { error }),
  }
  const clock = new TestClock()
  const parts = { socket: script, sink, signal: never, apiKey, clock, limits: outboundDefaults }
  const stream = new LiveSttStream(parts, liveVendor(request))
  await stream.opened
  const token = (text: string, startMs: number, is_final = true) => ({
    text,
    start_ms: startMs,
    end_ms: startMs + 100,
    confidence: 0.8,
    is_final,
    language: 'en',
  })
  const mark = (text: string) => ({ text, is_final: true, confidence: 1 })
  script.say({ tokens: [token('Hel', 100, false), token('low', 200, false)] })
  script.say({ tokens: [token('Hel', 100), token('lo', 200), token(' wor', 300, false)] })
  script.say({
    tokens: [token(' wor', 300), token('ld', 400), token('.', 500), mark('<end>'), token(' And', 900, false)],
  })
  script.say({ tokens: [mark('<fin>')] })
  script.say({ tokens: [token('你', 2000), token('好', 2100), mark('<fin>')] })
  t.same(
    reported.map(({ utterance, text, isFinal, speechFinal }) => [utterance, text, isFinal, speechFinal]),
    [
      [0, 'Hellow', false, false],
      [0, 'Hello wor', false, false],
      [0, 'Hello world.', true, true],
      [1, 'And', false, false],
      [1, '你好', true, true],
    ],
  )
  t.match(reported[2], { startMs: 100, endMs: 600, confidence: 0.8, language: 'en' })
  const wordsOf = (index: number) => reported[index]?.words?.map(({ text, startMs, endMs }) => [text, startMs, endMs])
  t.same(wordsOf(2), [
    ['Hello', 100, 300],
    ['world.', 300, 600],
  ])
  t.same(wordsOf(4), [
    ['你', 2000, 2100],
    ['好', 2100, 2200],
  ])
  const sentLately = () => script.sent.splice(0).filter((data) => typeof data === 'string')
  sentLately()
  clock.pass(keepAliveMs)
  t.same(sentLately(), ['{"type":"keepalive"}'], 'while nothing is sent')
  stream.audio(Buffer.alloc(640))
  clock.pass(keepAliveMs)
  t.same(sentLately(), [], 'audio keeps it alive')
  clock.pass(keepAliveMs)
  t.same(sentLately(), ['{"type":"keepalive"}'])
  stream.close()
  t.equal(clock.timers, 0, 'no timer is left')
})

void t.test('if the stream is closed during a Soniox frame, the rest of the frame is not reported', async (t) => {
  const script = new ScriptedSocket()
  const reported: string[] = []
  const closing: { stream?: SttStream } = {}
  const sink = {
    speechStarted: () => void reported.push('speech'),
    transcript: ({ text }: StreamTranscript) => {
      reported.push(text)
      closing.stream?.close()
    },
    ended: () => void reported.push('ended'),
    failed: () => void reported.push('failed'),
  }
  const parts = { socket: script, sink, signal: never, apiKey, clock: systemClock, limits: outboundDefaults }
  const stream = new LiveSttStream(parts, liveVendor({ ...request, interimResults: false }))
  await stream.opened
  closing.stream = stream
  const token = (text: string) => ({ text, start_ms: 0, end_ms: 100, is_final: true })
  script.say({ tokens: [token('One.'), token('<end>'), token('Two.'), token('<end>')], finished: true })
  t.same(reported, ['speech', 'One.'])
  t.notOk(script.isOpen)
})
