/** Sends a turn's input to other models. Each function sends one request to a model, and the request is billed. */
import { queryOptions } from '@tanstack/react-query'
import type { Call, CallTurn } from '../../../generated/clients/typescript/models/platform.ts'
import type { InputMessage } from '../../../generated/clients/typescript/models/router.ts'
import { ApiError } from '../../../generated/clients/typescript/platform.ts'
import { platform, router } from './clients.ts'
import { cutChannel, type Span, wavOf } from './mono-wav.ts'

/** `voice` is only for text to speech. If it is null, the model speaks in its default voice. */
export type Choice = { pin: string; voice: string | null }

export type Replayed = {
  /** The words of the answer. Empty for text to speech. */
  text: string
  /** The speech as a WAV file. Null for the other stages. */
  audio: Blob | null
  /** The time until the first token or the first audio. Null if the answer came as a whole. */
  firstMs: number | null
  wholeMs: number
  requestId: string | null
}

/** A slow model is a result too, so a replay waits longer than a page waits for data. */
const timeoutMs = 60_000
/** Maximum answer tokens if the call's settings have no maximum. */
const outputTokensMax = 512
const speechRateHz = 24_000

const pinned = (pin: string) => ({ routing: { mode: 'explicit' as const, model: pin } })
const requestIdOf = (headers: Headers) => headers.get('x-request-id')

/** Reads a part of one channel in the recording. The times count from the recording's start. */
export async function readRecording(
  id: string,
  channel: 'caller' | 'agent',
  { fromMs, toMs }: Span,
  signal?: AbortSignal,
): Promise<Blob> {
  const read = async (from: number, to: number) => {
    const header = { range: `bytes=${from}-${to - 1}` }
    const answer = await platform.getCallRecordingAudio({ path: { id }, header, ...(signal && { signal }) })
    if (answer.status === 206) return new DataView(await new Response(answer.body).arrayBuffer())
    await answer.body.cancel()
    throw new Error('The server sent the whole recording instead of a part.')
  }
  return cutChannel(read, channel === 'caller' ? 0 : 1, { fromMs, toMs })
}

export async function transcribeAgain(
  { language }: Call,
  audio: Blob,
  { pin }: Choice,
  signal: AbortSignal,
): Promise<Replayed> {
  const startedMs = performance.now()
  const request = { language, ...pinned(pin) }
  const { body, headers } = await router.createTranscription({ body: { request, audio }, signal, timeoutMs })
  const wholeMs = performance.now() - startedMs
  return { text: body.text, audio: null, firstMs: null, wholeMs, requestId: requestIdOf(headers) }
}

/** Sends the prompt and the turns before the answer. A call does not store the agent's tools, so no tool is sent. */
export async function answerAgain(
  call: Call,
  answer: CallTurn,
  { pin }: Choice,
  signal: AbortSignal,
): Promise<Replayed> {
  const body = { ...promptOf(call, answer), ...pinned(pin), stream: true }
  const startedMs = performance.now()
  const stream = await router.createResponse({ body, signal, timeoutMs })
  if (stream.type !== 'text/event-stream') throw new Error('The server did not stream.')
  let [text, firstMs] = ['', null as number | null]
  for await (const { event, data } of stream.body) {
    if (event === 'error') throw new Error(`${data.error.message} ${data.error.hint}`)
    if (event !== 'response.text.delta') continue
    firstMs ??= performance.now() - startedMs
    text += data.delta
  }
  const wholeMs = performance.now() - startedMs
  return { text, audio: null, firstMs, wholeMs, requestId: requestIdOf(stream.headers) }
}

/** Returns the input that the model had in the call, as far as the call stores it. */
export function promptOf({ pipeline_config: settings, transcript }: Call, answer: CallTurn) {
  const { maxTokens = outputTokensMax, temperature } = (settings['llm'] ?? {}) as {
    maxTokens?: number
    temperature?: number | null
  }
  const { systemPrompt } = settings
  const system = systemPrompt === '' ? [] : [message('system', systemPrompt)]
  const history = transcript.entries.filter(({ index }) => index < answer.index).flatMap(messageOf)
  const options = typeof temperature === 'number' ? { temperature } : {}
  return { input: [...system, ...history], max_output_tokens: maxTokens, ...options }
}

/** In the call, the model received only the agent's words that were played. */
function messageOf(turn: CallTurn): InputMessage[] {
  const text = turn.source === 'agent' ? (turn['heard_text'] ?? turn.text) : turn.text
  const role = ({ user: 'user', agent: 'assistant', system: 'system' } as const)[turn.source]
  return text === '' ? [] : [message(role, text)]
}

const message = (role: InputMessage['role'], text: string): InputMessage => ({
  type: 'message',
  role,
  content: [{ type: 'text', text }],
})

export async function speakAgain(
  { language }: Call,
  { text }: CallTurn,
  { pin, voice }: Choice,
  signal: AbortSignal,
): Promise<Replayed> {
  const body = { ...speechOf(text, language, { pin, voice }), audio: { sample_rate_hz: speechRateHz } }
  const startedMs = performance.now()
  const { body: stream, headers } = await router.createSpeech({ body, signal, timeoutMs })
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let firstMs: number | null = null
  const reader = stream.getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    firstMs ??= performance.now() - startedMs
    pieces.push(piece.value as Uint8Array<ArrayBuffer>)
  }
  const wholeMs = performance.now() - startedMs
  return {
    text: '',
    audio: wavOf(await new Blob(pieces).arrayBuffer(), speechRateHz),
    firstMs,
    wholeMs,
    requestId: requestIdOf(headers),
  }
}

export const speechOf = (input: string, language: string, { pin, voice }: Choice) => ({
  input,
  language,
  ...(voice !== null && { voice }),
  ...pinned(pin),
})

/** The outcome of a request is there a moment after its end. */
const outcomeMs = 500
const outcomeReadsMax = 20

/** Reads who answered a request, and what it cost. */
export const outcomeQuery = (requestId: string | null) =>
  queryOptions({
    queryKey: ['routes', requestId],
    queryFn: async ({ signal }) => (await platform.getRequestRoute({ signal, path: { id: requestId ?? '' } })).body,
    enabled: requestId !== null,
    retry: (failures, error) => error instanceof ApiError && error.status === 404 && failures < outcomeReadsMax,
    retryDelay: outcomeMs,
    staleTime: Number.POSITIVE_INFINITY,
  })
