import t from 'tap'
import type { LlmRequest } from '../../../domain/ports/llm.ts'
import type { SttOptions } from '../../../domain/ports/stt.ts'
import type { TtsRequest } from '../../../domain/ports/tts.ts'
import { modelRows } from '../../../providers/openai/models.ts'
import { createOpenAiProvider, type OpenAiOptions } from '../../../providers/openai/provider.ts'
import { ResponseTurn, readResponse } from '../../../providers/openai/responses-answer.ts'
import type { OutboundLimits } from '../../../runtime/outbound/limits.ts'
import { systemClock } from '../../../runtime/timing/clock.ts'
import { catalog, never, patient, providerErrorOf } from '../suite/given.ts'
import { llmSuite, weather } from '../suite/llm.ts'
import type { SeenRequest } from '../suite/matrix.ts'
import { rawRecording, recordingMs, recordingPcm, sttSuite } from '../suite/stt.ts'
import { sttStreamSuite } from '../suite/stt-live.ts'
import { transcriptOf } from '../suite/stub-server.ts'
import { ttsSuite } from '../suite/tts.ts'
import { startOpenAiStub } from './stub.ts'
import { billedSeconds, voxtralPcm } from './stub-speech.ts'

const stub = await startOpenAiStub()
t.teardown(() => stub.close())

const apiKey = 'sk-canary-0123456789'
const usage = { inputTokens: 8, cachedInputTokens: 4, outputTokens: 6, reasoningTokens: 3 }
const models = {
  llm: ['gpt-4.1'],
  stt: ['whisper-1', 'gpt-4o-transcribe'],
  tts: ['tts-1', 'canopylabs/orpheus-v1-english', 'voxtral-mini-tts-2603'],
}
const made = (changes: Partial<OpenAiOptions>) => (baseUrl: string, limits: OutboundLimits) =>
  createOpenAiProvider({
    id: 'openai',
    baseUrl: `${baseUrl}/v1`,
    apiKey,
    models,
    catalog,
    maxTokensField: null,
    asksForUsage: true,
    keyCheck: '/models',
    keyCheckNeedsKey: true,
    limits,
    unavailable: null,
    clock: systemClock,
    ...changes,
  })
const provider = made({})
const openai = made({
  responses: true,
  realtime: { models: ['gpt-4o-transcribe'], rules: 'openai' },
})
const mistral = made({ transcriptions: 'voxtral', models: { stt: ['voxtral-mini-2602'] } })
const given = { provider, stub, apiKey }
const rawAudio = { error_mid: 'the body is samples: an error in it would be played as audio' }

t.test('OpenAI chat completions pass the shared adapter tests for LLMs', (t) =>
  llmSuite(t, { ...given, model: 'gpt-4.1', usage, answeredBy: 'stub' }),
)
t.test('OpenAI responses pass the shared adapter tests for LLMs', (t) =>
  llmSuite(t, { ...given, provider: openai, model: 'gpt-4.1', usage, answeredBy: 'stub', withoutChat: true }),
)
t.test('OpenAI transcriptions pass the shared adapter tests for recordings', (t) =>
  sttSuite(t, { ...given, model: 'whisper-1', billedMs: billedSeconds * 1000 }),
)
t.test("transcriptions in Mistral's form pass the shared adapter tests for recordings", (t) =>
  sttSuite(t, { ...given, provider: mistral, model: 'voxtral-mini-2602', billedMs: billedSeconds * 1000 }),
)
t.test('OpenAI speech passes the shared adapter tests for speech', (t) =>
  ttsSuite(t, { ...given, model: 'tts-1', cannot: rawAudio }),
)
t.test("speech in Groq's WAV form passes the shared adapter tests for speech", (t) =>
  ttsSuite(t, { ...given, model: 'canopylabs/orpheus-v1-english', cannot: rawAudio }),
)
t.test("speech in Mistral's events passes the shared adapter tests for speech", (t) =>
  ttsSuite(t, {
    ...given,
    model: 'voxtral-mini-tts-2603',
    format: { encoding: 'pcm_f32le', sampleRateHz: 24_000, channels: 1 },
    audio: voxtralPcm,
  }),
)

const live = { ...given, provider: openai, model: 'gpt-4o-transcribe', billedMs: 2000 }
t.test('OpenAI realtime transcription at 24 kHz passes the shared adapter tests for live recognition', (t) =>
  sttStreamSuite(t, { ...live, audio: { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 } }),
)

t.test('each server receives chat and speech requests in the form that it understands', async (t) => {
  const made = openai(stub.url, patient)
  t.teardown(() => made.close())
  const asked = async (work: Promise<unknown> | undefined) => {
    await work
    return JSON.parse(stub.seen.at(-1)?.body.toString() ?? '') as unknown
  }
  stub.behave('ok')
  const outputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 } as const
  const say = (model: string, more: Partial<TtsRequest> = {}) =>
    asked(made.ports.speech?.tts?.synthesize({ model, text: 'Hello', outputFormat, ...more }, never))
  t.same(await say('canopylabs/orpheus-v1-english'), {
    model: 'canopylabs/orpheus-v1-english',
    input: 'Hello',
    voice: 'autumn',
    response_format: 'wav',
  })
  t.same(await say('voxtral-mini-tts-2603', { voice: 'fr_marie_neutral' }), {
    model: 'voxtral-mini-tts-2603',
    input: 'Hello',
    voice_id: 'fr_marie_neutral',
    response_format: 'pcm',
    stream: true,
  })
  const ask: LlmRequest = {
    model: 'gpt-4.1',
    items: [
      { type: 'message', role: 'system', text: 'Be brief.' },
      { type: 'message', role: 'user', text: 'Weather?' },
      { type: 'function_call', callId: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_result', callId: 'c1', result: 'rain' },
    ],
    maxOutputTokens: 64,
    tools: [weather],
    toolChoice: { name: 'weather' },
    responseFormat: { name: 'answer', schema: { type: 'object' }, strict: true },
    temperature: 0.2,
    reasoningEffort: 'low',
  }
  t.same(await asked(made.ports.llm?.respond(ask, never)), {
    model: 'gpt-4.1',
    input: [
      { type: 'message', role: 'system', content: 'Be brief.' },
      { type: 'message', role: 'user', content: 'Weather?' },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'rain' },
    ],
    max_output_tokens: 64,
    store: false,
    temperature: 0.2,
    reasoning: { effort: 'low' },
    text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true } },
    tools: [{ type: 'function', ...weather, strict: false }],
    tool_choice: { type: 'function', name: 'weather' },
  })
})

t.test('transcription requests and answers of Mistral are converted', async (t) => {
  const made = mistral(stub.url, patient)
  t.teardown(() => made.close())
  const text = transcriptOf(recordingPcm)
  const [first, second] = text.split(' ')
  const readSpeech = async (options: SttOptions, language?: string) => {
    stub.behave('ok')
    const recording = rawRecording(recordingPcm)
    const request = { model: 'voxtral-mini-2602', recording, options, ...(language !== undefined && { language }) }
    const transcript = await made.ports.speech?.stt?.transcribe(request, never)
    const { body, headers } = stub.seen[0] as SeenRequest
    const type = headers['content-type'] ?? ''
    const form = await new Response(body, { headers: { 'content-type': type } }).formData()
    return { transcript, fields: [...form.entries()].filter(([name]) => name !== 'file' && name !== 'model') }
  }
  const plain = await readSpeech({ keywords: ['Parley', ' New York, NY '] })
  t.same(plain.fields, [
    ['context_bias', 'Parley'],
    ['context_bias', 'New_York_NY'],
    ['timestamp_granularities', 'segment'],
  ])
  t.same(plain.transcript, { text, segments: [{ text, startMs: 0, endMs: 100 }], billedMs: billedSeconds * 1000 })
  const speakers = await readSpeech({ diarization: true })
  t.same(speakers.fields, [
    ['diarize', 'true'],
    ['timestamp_granularities', 'segment'],
  ])
  t.match(speakers.transcript?.segments, [{ text, speaker: 'speaker_1' }])
  const named = await readSpeech({}, 'pt-BR')
  t.same(named.fields, [['language', 'pt']])
  t.match(named.transcript, { language: 'pt-BR', segments: [{ text, startMs: 0, endMs: recordingMs }] })
  const words = await readSpeech({ wordTimestamps: true })
  t.same(words.fields, [['timestamp_granularities', 'word']])
  t.same(words.transcript?.words, [
    { text: first, startMs: 0, endMs: 100 },
    { text: second, startMs: 100, endMs: 200 },
  ])
  t.match(words.transcript?.segments, [{ text, startMs: 0, endMs: recordingMs }])
  const refused: [SttOptions, string?][] = [
    [{ wordTimestamps: true }, 'de'],
    [{ diarization: true }, 'de'],
    [{ diarization: true, wordTimestamps: true }],
    [{ keywords: Array.from({ length: 101 }, (_, at) => `word${at}`) }],
  ]
  for (const [options, language] of refused)
    t.match(await providerErrorOf(readSpeech(options, language)), { errorClass: 'unsupported', sent: false })
  t.match(made.models, [
    { languages: ['ar', 'de'], capabilities: { diarization: true, keywords: true, prompt: false } },
  ])
})

t.test('each ending of an OpenAI response has its stop reason or error class', (t) => {
  const body = (changes: object) => ({ status: 'completed', output: [], ...changes })
  const said = [{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }]
  const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
  const filtered = { status: 'incomplete', incomplete_details: { reason: 'content_filter' } }
  t.match(readResponse(body({ output: said })), { text: 'No.', stopReason: 'stop' })
  t.match(readResponse(body(cut)), { text: '', stopReason: 'max_output_tokens' }, 'reasoning used the limit up')
  t.match(readResponse(body({ ...filtered, output: said })), { text: 'No.', stopReason: 'stop' })
  const failures: [object, string][] = [
    [body({}), 'empty'],
    [body(filtered), 'bad_request'],
    [body({ status: 'in_progress' }), 'protocol'],
    [{ status: 'completed' }, 'protocol'],
    [body({ output: [{ type: 'function_call', name: 'weather' }] }), 'protocol'],
  ]
  for (const [given, errorClass] of failures)
    t.match(
      thrownBy(() => readResponse(given as Record<string, unknown>)),
      { errorClass },
      JSON.stringify(given),
    )
  const turn = new ResponseTurn('sk-canary')
  const failed = { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'sk-canary' } } }
  t.match(
    thrownBy(() => turn.read(failed)),
    { errorClass: 'rate_limited', cause: '[key]' },
  )
  const orphan = { type: 'response.function_call_arguments.delta', output_index: 3, delta: '{' }
  t.match(
    thrownBy(() => turn.read(orphan)),
    { errorClass: 'protocol' },
  )
  t.end()
})

t.test("an OpenAI model has catalog prices only if its base URL is the vendor's", (t) => {
  const given = { live: [], transcriptions: undefined }
  const rows = (baseUrl: string) =>
    modelRows({ ...given, id: 'openai', baseUrl, models: { stt: ['gpt-4o-transcribe'] } }, catalog)
  t.match(rows('https://api.openai.com/v1/')[0], { prices: [{ unit: 'audio_hour', microUsd: 360_000 }] })
  t.same(rows('http://127.0.0.1:8000/v1')[0]?.prices, [])
  const voices = modelRows(
    { ...given, id: 'x', baseUrl: 'http://127.0.0.1:8880/v1', models: { tts: ['kokoro', 'tts-1'] } },
    catalog,
  )
  t.match(voices[0], { capabilities: { instructions: false, speed: true }, voices: [{ id: 'af_heart' }] })
  t.match(voices[1], { languages: ['*'], capabilities: { instructions: false } })
  t.end()
})

function thrownBy(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return error
  }
}
