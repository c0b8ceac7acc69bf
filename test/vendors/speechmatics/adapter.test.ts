import t from 'tap'
import type { Provider } from '../../../domain/ports/provider.ts'
import type { StreamTranscript, SttStreamRequest } from '../../../domain/ports/stt.ts'
import { createSpeechmaticsProvider } from '../../../providers/speechmatics/provider.ts'
import { liveVendor, startRecognition } from '../../../providers/speechmatics/stt-live.ts'
import { classOfType } from '../../../providers/speechmatics/wire.ts'
import { LiveSttStream } from '../../../providers/wire/live-stt.ts'
import { type OutboundLimits, outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { systemClock } from '../../../runtime/timing/clock.ts'
import { never, present, until, vendorOptions } from '../suite/given.ts'
import { ScriptedSocket } from '../suite/scripted-socket.ts'
import { sttStreamSuite } from '../suite/stt-live.ts'
import { startSpeechmaticsStub } from './stub.ts'

const apiKey = 'sm-key-canary'
const provider = (baseUrl: string, limits: OutboundLimits = outboundDefaults) =>
  createSpeechmaticsProvider(vendorOptions('speechmatics', apiKey, baseUrl, limits))

/** Adds a language to requests without a language, because this vendor requires one. */
function inEnglish(speechmatics: Provider): Provider {
  const stt = present(speechmatics.ports.speech?.stt, 'stt')
  const open = present(stt.open?.bind(stt), 'open')
  return {
    ...speechmatics,
    ports: {
      speech: {
        stt: { ...stt, open: (request, sink, signal) => open({ language: 'en', ...request }, sink, signal) },
      },
    },
  }
}

const audio = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 } as const

void t.test('Speechmatics passes the shared adapter tests for live recognition', async (t) => {
  const stub = await startSpeechmaticsStub()
  t.teardown(() => stub.close())
  await sttStreamSuite(t, {
    provider: (baseUrl, limits) => inEnglish(provider(baseUrl, limits)),
    stub,
    model: 'enhanced',
    apiKey,
    expected: { error_mid: { errorClass: 'server', because: 'this vendor has no word for its overload' } },
  })
})

void t.test('a live session of Speechmatics is configured with its options', async (t) => {
  const stub = await startSpeechmaticsStub()
  const speechmatics = provider(stub.url)
  t.teardown(() => stub.close())
  t.teardown(() => speechmatics.close())
  const request: SttStreamRequest = { model: 'enhanced', audio, language: 'zh', interimResults: true, words: true }
  const sink = { speechStarted() {}, transcript() {}, ended() {}, failed() {} }
  const stream = await speechmatics.ports.speech?.stt?.open?.(request, sink, never)
  stream?.audio(Buffer.alloc(640))
  stream?.audio(Buffer.alloc(0))
  stream?.audio(Buffer.alloc(640))
  stream?.flush()
  stream?.end()
  await until(() => stub.seen[0]?.texts.length === 3, 'the end did not arrive')
  const [seen] = stub.seen
  t.match(seen, { path: '/v2', headers: { authorization: `Bearer ${apiKey}` } })
  t.same(
    seen?.texts.map((text): unknown => JSON.parse(text)),
    [
      {
        message: 'StartRecognition',
        audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
        transcription_config: {
          language: 'cmn',
          model: 'enhanced',
          enable_partials: true,
          conversation_config: { end_of_utterance_silence_trigger: 0.5 },
        },
      },
      { message: 'ForceEndOfUtterance' },
      { message: 'EndOfStream', last_seq_no: 2 },
    ],
  )
  const more = { ...request, endpointingMs: 4000, keywords: ['Parley'], interimResults: false }
  t.match(startRecognition(more, 'en-GB'), {
    transcription_config: {
      language: 'en',
      output_locale: 'en-GB',
      enable_partials: false,
      conversation_config: { end_of_utterance_silence_trigger: 2 },
      additional_vocab: [{ content: 'Parley' }],
    },
  })
})

void t.test('without a language a request is not sent to Speechmatics', async (t) => {
  const speechmatics = provider('http://127.0.0.1:1')
  const request = { model: 'enhanced', audio, interimResults: true, words: false }
  const open = () => present(speechmatics.ports.speech?.stt?.open?.bind(speechmatics.ports.speech?.stt), 'open')
  const sink = { speechStarted() {}, transcript() {}, ended() {}, failed() {} }
  await t.rejects(open()(request, sink, never), { message: 'provider unsupported' })
})

void t.test('pieces of a Speechmatics transcript are joined to utterances', async (t) => {
  const script = new ScriptedSocket()
  const reported: StreamTranscript[] = []
  const speech: number[] = []
  const sink = {
    speechStarted: (startMs: number) => void speech.push(startMs),
    transcript: (transcript: StreamTranscript) => void reported.push(transcript),
    ended() {},
    failed: (error: Error) => t.fail('failed', { error }),
  }
  const request = { model: 'enhanced', audio, interimResults: true, words: true }
  const parts = { socket: script, sink, signal: never, apiKey, clock: systemClock, limits: outboundDefaults }
  const stream = new LiveSttStream(parts, liveVendor({ ...request, language: 'en' }))
  script.say({ message: 'RecognitionStarted', language_pack_info: { word_delimiter: ' ' } })
  await stream.opened
  const word = (content: string, startS: number, more = {}) => ({
    type: 'word',
    start_time: startS,
    end_time: startS + 0.25,
    alternatives: [{ content, confidence: 0.8, language: 'en' }],
    ...more,
  })
  const mark = (content: string, startS: number) =>
    word(content, startS, { type: 'punctuation', end_time: startS, attaches_to: 'previous', is_eos: true })
  script.say({ message: 'AddPartialTranscript', results: [word('Hello', 1), word('bold', 1.5)] })
  script.say({ message: 'AddTranscript', results: [word('Hello', 1), mark(',', 1.25)] })
  script.say({ message: 'AddPartialTranscript', results: [word('world', 1.5)] })
  script.say({ message: 'AddPartialTranscript', results: [word('world', 1.5)] })
  script.say({ message: 'AddTranscript', results: [word('world', 1.5), mark('.', 1.75)] })
  script.say({ message: 'EndOfUtterance', metadata: {} })
  script.say({ message: 'EndOfUtterance', metadata: {} })
  // Speech without a pause gets a final transcript too, and later a final transcript that ends the utterance.
  for (let second = 10; second < 30; second += 5)
    script.say({ message: 'AddTranscript', results: [word(`w${second}`, second)] })
  script.say({ message: 'EndOfUtterance', metadata: {} })
  t.same(
    reported.map(({ utterance, text, isFinal, speechFinal }) => [utterance, text, isFinal, speechFinal]),
    [
      [0, 'Hello bold', false, false],
      [0, 'Hello, world', false, false],
      [0, 'Hello, world.', true, true],
      [1, 'w10 w15 w20 w25', true, false],
      [1, '', true, true],
    ],
  )
  t.same(speech, [1000, 10_000])
  t.match(reported[2], { startMs: 1000, endMs: 1750, confidence: 0.8, language: 'en' })
  t.same(reported[2]?.words, [
    { text: 'Hello,', startMs: 1000, endMs: 1250, confidence: 0.8 },
    { text: 'world.', startMs: 1500, endMs: 1750, confidence: 0.8 },
  ])
  stream.close()
  script.say({ message: 'AddTranscript', results: [word('late', 40)] })
  t.equal(reported.length, 5)
})

void t.test('each error type of Speechmatics has its error class', (t) => {
  const classes = {
    auth: ['not_authorised', 'not_allowed'],
    quota: ['timelimit_exceeded'],
    rate_limited: ['quota_exceeded'],
    unsupported: ['invalid_model', 'invalid_language', 'invalid_audio_type'],
    bad_request: ['invalid_message', 'invalid_config', 'invalid_output_format'],
    timeout: ['idle_timeout', 'session_timeout'],
    server: ['job_error', 'unknown_error'],
    protocol: ['protocol_error'],
  }
  for (const [errorClass, types] of Object.entries(classes))
    for (const type of types) t.equal(classOfType(type), errorClass, type)
  t.equal(classOfType('toString'), null)
  t.end()
})
