/** The requests for speech at Soniox, and the socket for it. */
import t from 'tap'
import type { OutputFormat } from '../../../audio/format.ts'
import type { TtsRequest } from '../../../domain/ports/tts.ts'
import { createSonioxProvider } from '../../../providers/soniox/provider.ts'
import { type OutboundLimits, outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { never, present, providerErrorOf, until, vendorOptions, waysToLeave } from '../suite/given.ts'
import { startStub } from '../suite/stub-server.ts'
import { readSpeech, speechFormat, ttsSuite } from '../suite/tts.ts'
import { startSonioxStub } from './stub.ts'
import { spoken } from './stub-speech.ts'

const apiKey = 'sx-key-canary'
const provider = (baseUrl: string, limits: OutboundLimits = outboundDefaults) =>
  createSonioxProvider(vendorOptions('soniox', apiKey, baseUrl, limits))
const stub = await startSonioxStub()
const soniox = provider(stub.url)
const tts = present(soniox.ports.speech?.tts, 'tts')
t.beforeEach(() => stub.behave('ok'))
t.teardown(async () => {
  await soniox.close()
  await stub.close()
})

const say: TtsRequest = { model: 'tts-rt-v2', text: 'Say "this"\n', outputFormat: speechFormat }
const framesOf = () => stub.seen[0]?.texts.map((text) => JSON.parse(text) as Record<string, unknown>) ?? []

t.test('Soniox passes the shared adapter tests for speech', (t) =>
  ttsSuite(t, { provider, stub, model: 'tts-rt-v2', apiKey }),
)

t.test('speech of Soniox is requested in the nearest format', async (t) => {
  const formats: [OutputFormat['encoding'], number, string, OutputFormat['encoding'], number][] = [
    ['pcm_s16le', 8000, 'pcm_s16le', 'pcm_s16le', 8000],
    ['pcm_s16le', 22_050, 'pcm_s16le', 'pcm_s16le', 24_000],
    ['pcm_s16le', 96_000, 'pcm_s16le', 'pcm_s16le', 48_000],
    ['pcm_f32le', 32_000, 'pcm_f32le', 'pcm_f32le', 44_100],
    ['mulaw', 8000, 'pcm_mulaw', 'mulaw', 8000],
    ['alaw', 8000, 'pcm_alaw', 'alaw', 8000],
    ['mulaw', 16_000, 'pcm_s16le', 'pcm_s16le', 16_000],
    ['opus', 48_000, 'pcm_s16le', 'pcm_s16le', 48_000],
  ]
  for (const [encoding, sampleRateHz, audio_format, emitted, sample_rate] of formats) {
    stub.behave('ok')
    const { format, items } = await readSpeech(
      tts.synthesize({ ...say, outputFormat: { encoding, sampleRateHz, channels: 2 } }, never),
    )
    t.match(framesOf()[0], { audio_format, sample_rate })
    t.same(format, { encoding: emitted, sampleRateHz: sample_rate, channels: 1 })
    t.ok(Buffer.concat(items).equals(spoken({ audio_format, sample_rate })), `${encoding} ${sampleRateHz}`)
  }
})

t.test('speech of Soniox is requested with voice, language and speed', async (t) => {
  const start = { stream_id: 'text', model: 'tts-rt-v2', audio_format: 'pcm_s16le', sample_rate: 24_000 }
  const text = { stream_id: 'text', text: say.text, text_end: true }
  const cases: [Partial<TtsRequest>, object][] = [
    [{}, { language: 'en', voice: 'Adrian' }],
    [
      { language: 'fil', voice: 'my-voice', speed: 1.3 },
      { language: 'tl', voice: 'my-voice', speed: 1.3 },
    ],
  ]
  for (const [request, own] of cases) {
    stub.behave('ok')
    await readSpeech(tts.synthesize({ ...say, ...request }, never))
    t.same(framesOf(), [{ ...start, ...own }, text])
    t.match(stub.seen[0], { path: '/tts-websocket', headers: { authorization: `Bearer ${apiKey}` } })
  }
})

t.test('a request that Soniox cannot serve is not sent', async (t) => {
  for (const request of [{ speed: 0.6 }, { speed: 1.4 }, { text: 'a'.repeat(5001) }])
    t.match(await providerErrorOf(tts.synthesize({ ...say, ...request }, never)), {
      errorClass: 'unsupported',
      sent: false,
    })
  t.same(stub.seen, [])
})

t.test('if the reader leaves, unfinished Soniox speech is cancelled', async (t) => {
  await readSpeech(tts.synthesize(say, never))
  t.equal(framesOf().length, 2)
  for (const leave of waysToLeave) {
    stub.behave('slow_first_byte')
    const leaving = new AbortController()
    const { audio } = await tts.synthesize(say, leaving.signal)
    leave(leaving, audio[Symbol.asyncIterator]())
    await until(() => framesOf().length === 3, 'not cancelled')
    t.same(framesOf()[2], { stream_id: 'text', cancel: true })
  }
})

t.test('texts are spoken over sockets that were opened in advance, also two texts at once', async (t) => {
  const outcomes: string[] = []
  const limits = { ...outboundDefaults, warmSockets: { perRoute: 1, socketsMax: 4, routeMs: 60_000 } }
  const warm = createSonioxProvider({
    ...vendorOptions('soniox', apiKey, stub.url, limits),
    observeWarm: (outcome) => void outcomes.push(outcome),
  })
  t.teardown(() => warm.close())
  const speak = async () => {
    const { items } = await readSpeech(present(warm.ports.speech?.tts, 'tts').synthesize(say, never))
    t.ok(Buffer.concat(items).equals(spoken({ audio_format: 'pcm_s16le', sample_rate: 24_000 })))
  }
  for (const text of [1, 2]) {
    await speak()
    await until(() => stub.seen.length === text + 1, 'none was opened ahead')
  }
  t.same(outcomes, ['miss', 'hit'], 'whatever its text and voice, a text finds it')
  await Promise.all([speak(), speak()])
})

t.test('each Soniox answer that breaks the protocol has its error class', async (t) => {
  const error = { error_code: 400, error_message: 'no' }
  const rows: [object, string][] = [
    [{ stream_id: 'text', audio: 7 }, 'protocol'],
    [{ stream_id: 'text', terminated: true }, 'protocol'],
    [{ ...error, error_type: 'model_not_available' }, 'unsupported'],
    [{ ...error, error_type: 'invalid_request' }, 'bad_request'],
    [{ error_code: 'none', error_message: 'no' }, 'server'],
  ]
  for (const [answer, errorClass] of rows) {
    const other = await startStub({ socket: (socket) => socket.listen({ text: () => socket.send(answer) }) })
    const adapter = provider(other.url)
    const failed = readSpeech(present(adapter.ports.speech?.tts, 'tts').synthesize(say, never))
    t.match(await providerErrorOf(failed), { errorClass, sent: true }, JSON.stringify(answer))
    await adapter.close()
    await other.close()
  }
})
