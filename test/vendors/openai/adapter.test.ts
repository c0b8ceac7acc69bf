import t from 'tap'
import type { LlmRequest } from '../../../domain/llm/llm.ts'
import type { TtsRequest } from '../../../domain/speech/tts.ts'
import { modelRows } from '../../../providers/openai/models.ts'
import { createOpenAiProvider, type OpenAiOptions } from '../../../providers/openai/provider.ts'
import { ResponseTurn, readResponse } from '../../../providers/openai/response.ts'
import { systemClock } from '../../../runtime/clock.ts'
import type { OutboundLimits } from '../../../runtime/outbound/limits.ts'
import { never, patient } from '../suite/given.ts'
import { llmSuite, weather } from '../suite/llm.ts'
import { sttSuite } from '../suite/stt.ts'
import { sttStreamSuite } from '../suite/stt-stream.ts'
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
    maxTokensField: null,
    asksForUsage: true,
    limits,
    unavailable: null,
    monotonicMs: () => systemClock.monotonicMs(),
    ...changes,
  })
const provider = made({})
const openai = made({ responses: true, realtime: { models: ['gpt-4o-transcribe'], clock: systemClock } })
const given = { provider, stub, apiKey }
const rawAudio = { error_mid: 'the body is samples: an error in it would be heard' }

t.test('chat completions', (t) => llmSuite(t, { ...given, model: 'gpt-4.1', usage }))
t.test('responses', (t) => llmSuite(t, { ...given, provider: openai, model: 'gpt-4.1', usage, withoutChat: true }))
t.test('transcriptions', (t) => sttSuite(t, { ...given, model: 'whisper-1', billedMs: billedSeconds * 1000 }))
t.test('speech', (t) => ttsSuite(t, { ...given, model: 'tts-1', cannot: rawAudio }))
t.test("speech, in Groq's WAV", (t) =>
  ttsSuite(t, { ...given, model: 'canopylabs/orpheus-v1-english', cannot: rawAudio }),
)
t.test("speech, in Mistral's events", (t) =>
  ttsSuite(t, {
    ...given,
    model: 'voxtral-mini-tts-2603',
    format: { encoding: 'pcm_f32le', sampleRateHz: 24_000, channels: 1 },
    audio: voxtralPcm,
  }),
)

const live = { ...given, provider: openai, model: 'gpt-4o-transcribe', billedMs: 2000 }
t.test('realtime transcription, 24 kHz', (t) =>
  sttStreamSuite(t, { ...live, audio: { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 } }),
)

t.test('what each server is asked', async (t) => {
  const made = openai(stub.url, patient)
  t.teardown(() => made.close())
  const asked = async (work: Promise<unknown> | undefined) => {
    await work
    return JSON.parse(stub.seen.at(-1)?.body.toString() ?? '') as unknown
  }
  stub.behave('ok')
  const wanted = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 } as const
  const say = (model: string, more: Partial<TtsRequest> = {}) =>
    asked(made.tts?.synthesize({ model, text: 'Hello', wanted, ...more }, never))
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
  t.same(await asked(made.llm?.respond(ask, never)), {
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

t.test('how a response can end', (t) => {
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

t.test('rows know their figures only at the address of their vendor', (t) => {
  const rows = (baseUrl: string) => modelRows('openai', baseUrl, { stt: ['gpt-4o-transcribe'] }, [])
  t.match(rows('https://api.openai.com/v1/')[0], { prices: [{ unit: 'audio_hour', microUsd: 360_000 }] })
  t.same(rows('http://127.0.0.1:8000/v1')[0]?.prices, [])
  const voices = modelRows('x', 'http://127.0.0.1:8880/v1', { tts: ['kokoro', 'tts-1'] }, [])
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
