/** Makes an OpenAI stub, the provider that uses it, and the smallest request for each operation. */
import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { Recording } from '../../audio/format.ts'
import type { LlmRequest } from '../../domain/ports/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { SttRequest } from '../../domain/ports/stt.ts'
import type { TtsRequest } from '../../domain/ports/tts.ts'
import { openCatalog } from '../../providers/catalog/rows.ts'
import { createOpenAiProvider, type OpenAiOptions } from '../../providers/openai/provider.ts'
import { outboundDefaults } from '../../runtime/outbound/limits.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { type Behaviour, startStubOpenAi } from './stub-openai.ts'

export const apiKey = 'key-0123456789'
export const limits = { ...outboundDefaults, answerBytesMax: 65_536, eventCharsMax: 8192 }

/** Starts a stub for one test file. */
export async function openStub(t: Test) {
  const stub = await startStubOpenAi()
  const provider = (changes: Partial<OpenAiOptions> = {}) => openProvider(stub.url, changes)
  const real = provider()
  t.teardown(async () => {
    await real.close()
    await stub.close()
  })
  return { stub, provider, real }
}

function openProvider(url: string, changes: Partial<OpenAiOptions>) {
  const made = createOpenAiProvider({
    id: 'stub',
    baseUrl: `${url}/v1/`,
    apiKey,
    models: { llm: ['chat'], stt: ['whisper'], tts: ['voice'] },
    catalog: openCatalog(null),
    maxTokensField: null,
    asksForUsage: true,
    keyCheck: '/models',
    keyCheckNeedsKey: true,
    limits,
    unavailable: null,
    clock: systemClock,
    ...changes,
  })
  const { llm, speech: { stt, tts } = {} } = made.ports
  if (!llm || !stt || !tts) throw new Error('an adapter is missing')
  return { ...made, llm, stt, tts }
}

export const never = new AbortController().signal
export const ask: LlmRequest = {
  model: 'chat',
  items: [{ type: 'message', role: 'user', text: 'Hello' }],
  maxOutputTokens: 64,
  tools: [],
}
export const say: TtsRequest = {
  model: 'voice',
  text: 'Hello',
  outputFormat: { encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 },
}
export const wav: Recording = {
  chunks: [Buffer.from('RIFF....WAVE'), Buffer.from('and the rest')],
  bytes: 24,
  format: { container: 'wav', encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 },
  dataOffset: 12,
  dataBytes: 12,
  durationMs: 1250,
}
export const hear: SttRequest = { model: 'whisper', recording: wav, options: {} }

export type Adapters = Pick<ReturnType<typeof openProvider>, 'llm' | 'stt' | 'tts'>

export async function collect<T>(items: AsyncIterable<T>, list: T[] = []): Promise<T[]> {
  for await (const item of items) list.push(item)
  return list
}

export async function failure(work: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  )
  if (error instanceof ProviderError) return error
  throw error
}

export async function until(condition: () => boolean, everyMs = 2): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, everyMs))
}

export function json(value: object): Behaviour {
  return {
    kind: 'custom',
    answer: (_, response) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value)),
  }
}

export async function sendPieces(response: ServerResponse, type: string, pieces: Buffer[]): Promise<void> {
  response.writeHead(200, { 'content-type': type })
  for (const piece of pieces) {
    response.write(piece)
    await new Promise(setImmediate)
  }
  response.end()
}
