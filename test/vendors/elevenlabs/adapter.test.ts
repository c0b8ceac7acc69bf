import t from 'tap'
import type { OutputFormat } from '../../../audio/format.ts'
import type { ErrorClass } from '../../../domain/ports/provider-error.ts'
import type { Speech, TtsRequest, WordEnd } from '../../../domain/ports/tts.ts'
import { elevenLabsModels } from '../../../providers/elevenlabs/models.ts'
import { createElevenLabsProvider } from '../../../providers/elevenlabs/provider.ts'
import { wire } from '../../../providers/elevenlabs/wire.ts'
import { failureOf, never, present } from '../suite/given.ts'
import { rawRecording, recordingMs, recordingPcm, sttSuite } from '../suite/stt.ts'
import { sendJson, startStub, transcriptOf } from '../suite/stub-server.ts'
import { speechFormat, ttsSuite } from '../suite/tts.ts'
import { ttsLiveSuite } from '../suite/tts-live.ts'
import { apiKey, options, provider } from './setup.ts'
import { formOf, spoken, startElevenLabsStub } from './stub.ts'

const stub = await startElevenLabsStub()
t.teardown(() => stub.close())
const given = { provider, stub, apiKey, model: 'eleven_flash_v2_5' }
/** undici opens a connection in place of the connection that ended with its attempt. */
const keeps = { sockets: 1, because: 'the pool replaces the connection of a call that was left' }

t.test('ElevenLabs speech passes the shared adapter tests over HTTP', (t) =>
  ttsSuite(t, {
    ...given,
    keeps,
    cannot: { header_only: 'raw samples have no header', error_mid: 'an audio body has no room for an error' },
  }),
)
t.test('ElevenLabs speech passes the shared adapter tests over the socket', (t) => ttsLiveSuite(t, given))
t.test('ElevenLabs Scribe passes the shared adapter tests for recordings', (t) =>
  sttSuite(t, { ...given, keeps, model: 'scribe_v2', billedMs: recordingMs }),
)

const elevenlabs = provider(stub.url)
t.teardown(() => elevenlabs.close())
const tts = present(elevenlabs.ports.speech?.tts, 'tts')
const stt = present(elevenlabs.ports.speech?.stt, 'stt')
type Speak = (request: TtsRequest) => Promise<Speech>
const overHttp: Speak = (request) => tts.synthesize(request, never)
const overSocket: Speak = (request) => present(tts.live?.(request, never), 'live')
const unsupported = { errorClass: 'unsupported', sent: false }
const say: TtsRequest = { model: 'eleven_flash_v2_5', text: 'Hello there.', outputFormat: speechFormat }

t.test('character times are requested only if needed, and matched with word positions in the text', async (t) => {
  const text = 'Say “$4.50”, twenty-one.'
  const ends: WordEnd[] = []
  stub.behave('ok')
  await readAll((await overSocket({ ...say, text, onWordEnd: (end) => void ends.push(end) })).audio)
  t.match(stub.seen[0]?.path, /sync_alignment=true/)
  const expected: [string, number][] = [
    ['Say', 20],
    ['Say “$4.50', 55],
    ['Say “$4.50”, twenty-one', 120],
    [text, 125],
  ]
  for (const [spoken, endMs] of expected)
    t.equal(Math.round(ends.find(({ place }) => place === spoken.length)?.endMs ?? -1), endMs, spoken)
  await readAll((await overSocket(say)).audio)
  t.notMatch(stub.seen[1]?.path, /sync_alignment/)
})

t.test('speech of ElevenLabs is requested with its fields', async (t) => {
  const seen = async (request: Partial<TtsRequest>, speak: Speak = overHttp) => {
    stub.behave('ok')
    const { format, audio } = await speak({ ...say, ...request })
    const bytes = await readAll(audio)
    const { pathname, searchParams } = new URL(stub.seen[0]?.path ?? '', stub.url)
    const output = searchParams.get('output_format') ?? ''
    t.ok(bytes.equals(spoken(output)), output)
    return {
      pathname,
      query: Object.fromEntries(searchParams),
      output,
      format,
      request: present(stub.seen[0], 'request'),
    }
  }
  const wanted = (encoding: OutputFormat['encoding'], sampleRateHz: number) => ({
    outputFormat: { encoding, sampleRateHz, channels: 1 },
  })

  await t.test('speech is requested in the nearest format that every ElevenLabs account may use', async (t) => {
    const formats: [OutputFormat['encoding'], number, string, OutputFormat['encoding'], number][] = [
      ['pcm_s16le', 8000, 'pcm_8000', 'pcm_s16le', 8000],
      ['pcm_s16le', 11_025, 'pcm_16000', 'pcm_s16le', 16_000],
      ['pcm_s16le', 48_000, 'pcm_32000', 'pcm_s16le', 32_000],
      ['pcm_f32le', 24_000, 'pcm_24000', 'pcm_s16le', 24_000],
      ['mulaw', 8000, 'ulaw_8000', 'mulaw', 8000],
      ['alaw', 8000, 'alaw_8000', 'alaw', 8000],
      ['mulaw', 16_000, 'pcm_16000', 'pcm_s16le', 16_000],
      ['opus', 48_000, 'opus_48000_64', 'opus', 48_000],
    ]
    for (const [encoding, rateHz, output, emitted, emittedHz] of formats) {
      const { format, output: asked } = await seen(wanted(encoding, rateHz))
      t.equal(asked, output)
      t.same(format, { encoding: emitted, sampleRateHz: emittedHz, channels: 1 })
    }
  })

  await t.test('a request for speech over HTTP has the fields that ElevenLabs expects', async (t) => {
    const plain = await seen({ language: 'de' })
    t.equal(plain.pathname, '/v1/text-to-speech/JBFqnCBsd6RMkjVDRZzb/stream', 'the default voice')
    t.equal(plain.request.headers['xi-api-key'], apiKey)
    t.same(JSON.parse(plain.request.body.toString()), { text: say.text, model_id: say.model, language_code: 'de' })
    const { pathname, request } = await seen({
      model: 'eleven_multilingual_v2',
      language: 'de',
      speed: 1.1,
      voice: 'my/voice',
    })
    t.equal(pathname, '/v1/text-to-speech/my%2Fvoice/stream')
    t.same(
      JSON.parse(request.body.toString()),
      { text: say.text, model_id: 'eleven_multilingual_v2', voice_settings: { speed: 1.1 } },
      'a model that takes no language is sent none',
    )
  })

  await t.test('a request for speech over the socket has the fields that ElevenLabs expects', async (t) => {
    const { pathname, query, request } = await seen({ language: 'de', speed: 0.8, voice: 'v1' }, overSocket)
    t.equal(pathname, '/v1/text-to-speech/v1/stream-input')
    t.match(query, { model_id: say.model, output_format: 'pcm_24000', language_code: 'de', auto_mode: 'true' })
    t.equal(request.headers['xi-api-key'], apiKey)
    t.same(
      request.texts.map((text) => JSON.parse(text) as object),
      [{ text: ' ', voice_settings: { speed: 0.8 } }, { text: 'Hello there. ', flush: true }, { text: '' }],
    )
    const { pathname: third } = await seen({ model: 'eleven_v3' }, overSocket)
    t.match(third, /\/stream$/, 'the third generation has no socket')
  })

  await t.test("a speed outside ElevenLabs' range is refused and not clamped", async (t) => {
    for (const speak of [overHttp, overSocket])
      for (const speed of [0.5, 2]) t.match(await failureOf(t, given, speak({ ...say, speed })), unsupported)
  })
})

t.test('ElevenLabs speech in a format that was not requested is a failure', async (t) => {
  for (const [type, body, errorClass] of [
    ['audio/mpeg', 'ID3', 'protocol'],
    ['text/html', '<html>', 'protocol'],
    ['audio/opus', 'RIFF....', 'unsupported'],
  ] as const) {
    const other = await startStub({
      http: (_, response) => void response.writeHead(200, { 'content-type': type }).end(body),
    })
    const adapter = provider(other.url)
    const request =
      type === 'audio/opus'
        ? { ...say, outputFormat: { encoding: 'opus', sampleRateHz: 48_000, channels: 1 } as const }
        : say
    const answer = present(adapter.ports.speech?.tts, 'tts').synthesize(request, never)
    t.equal((await failureOf(t, given, answer)).errorClass, errorClass, type)
    await adapter.close()
    await other.close()
  }
})

t.test("a recording is sent to Scribe, and Scribe's answer is converted", async (t) => {
  stub.behave('ok')
  const transcript = await stt.transcribe(
    {
      model: 'scribe_v2',
      recording: rawRecording(recordingPcm),
      language: 'en',
      options: {
        diarization: true,
        keywords: ['Parley', 'barge-in'],
        wordTimestamps: true,
        providerOptions: { tag_audio_events: true, num_speakers: 2 },
      },
    },
    never,
  )
  t.same(formOf(present(stub.seen[0], 'request')).all.sort(), [
    ['diarize', 'true'],
    ['keyterms', 'Parley'],
    ['keyterms', 'barge-in'],
    ['language_code', 'en'],
    ['model_id', 'scribe_v2'],
    ['num_speakers', '2'],
    ['tag_audio_events', 'true'],
    ['timestamps_granularity', 'word'],
  ])
  t.equal(transcript.language, 'en', 'three letters become two')
  t.same(transcript.segments, [
    { text: transcriptOf(recordingPcm), startMs: 0, endMs: recordingMs, speaker: 'speaker_0' },
  ])
  t.same(
    transcript.words?.map(({ text, speaker }) => [text, speaker]),
    transcriptOf(recordingPcm)
      .split(' ')
      .map((text) => [text, 'speaker_0']),
  )
  t.ok(transcript.words?.every(({ confidence = 0 }) => confidence > 0.9 && confidence < 0.91))
  const tooLong = { model: 'scribe_v2', recording: rawRecording(recordingPcm), options: { keywords: ['x'.repeat(50)] } }
  t.match(await failureOf(t, given, stt.transcribe(tooLong, never)), unsupported)
})

t.test('each segment of Scribe is one sentence of one speaker', async (t) => {
  const tokens: [text: string, speaker: string][] = [
    ['It', 'a'],
    [' ', 'a'],
    ['is', 'a'],
    [' ', 'a'],
    ['3.5.', 'a'],
    [' ', 'a'],
    ['Good.', 'a'],
    [' ', 'b'],
    ['Yes', 'b'],
  ]
  const words = tokens.map(([text, speaker_id], i) => {
    return { text, speaker_id, start: i / 10, end: (i + 1) / 10, type: text === ' ' ? 'spacing' : 'word', logprob: 0 }
  })
  const other = await startStub({ http: (_, response) => sendJson(response, { text: 'It is 3.5. Good. Yes', words }) })
  const adapter = provider(other.url)
  t.teardown(() => other.close())
  t.teardown(() => adapter.close())
  const request = { model: 'scribe_v2', recording: rawRecording(recordingPcm) }
  const { segments } = await present(adapter.ports.speech?.stt, 'stt').transcribe(
    { ...request, options: { diarization: true } },
    never,
  )
  t.same(segments, [
    { text: 'It is 3.5.', startMs: 0, endMs: 500, speaker: 'a' },
    { text: 'Good.', startMs: 600, endMs: 700, speaker: 'a' },
    { text: 'Yes', startMs: 800, endMs: 900, speaker: 'b' },
  ])
})

t.test('the body of a 401 or 429 from ElevenLabs decides its error class', (t) => {
  const classOf = (status: number, detail: unknown): ErrorClass | null => wire.classify(status, { detail })
  t.equal(classOf(401, { status: 'invalid_api_key', message: '' }), 'auth')
  t.equal(classOf(401, { status: 'quota_exceeded', message: '' }), 'quota')
  t.equal(classOf(401, { type: 'payment_required', code: 'quota_exceeded' }), 'quota', 'the newer form')
  t.equal(classOf(429, { status: 'too_many_concurrent_requests' }), 'rate_limited')
  t.equal(classOf(429, { status: 'system_busy' }), 'overloaded')
  t.equal(classOf(404, { status: 'voice_not_found' }), 'unsupported')
  for (const detail of [{ status: 'something_new' }, [{ loc: ['body'], msg: 'x' }], 'Not Found', null])
    t.equal(classOf(422, detail), null, 'the status decides')
  t.equal(wire.classify(500, null), null)
  t.end()
})

t.test('the catalog entries of ElevenLabs are complete', (t) => {
  const kept = createElevenLabsProvider({ ...options(stub.url), models: ['scribe_v2', 'eleven_v3'] })
  t.same(kept.models.map(({ id }) => id).sort(), ['eleven_v3', 'scribe_v2'])
  t.throws(() => createElevenLabsProvider({ ...options(stub.url), models: ['eleven_v0'] }), RangeError)
  for (const { id, languages, stage, capabilities } of elevenLabsModels) {
    t.same(
      languages,
      [...new Set(languages.map((tag) => Intl.getCanonicalLocales(tag)[0]))],
      `${id}: languages are tags, each once`,
    )
    if (stage === 'stt') t.not(capabilities.batch, capabilities.streaming, `${id}: another model streams`)
  }
  void kept.close().then(() => t.end())
})

async function readAll(audio: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of audio) chunks.push(chunk)
  return Buffer.concat(chunks)
}
