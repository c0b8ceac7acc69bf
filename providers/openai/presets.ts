/**
 * Servers that speak OpenAI's protocol, as data: where they are, which variable holds their key, how they differ.
 * Base URLs and spellings are the vendors' own; what could not be confirmed is not here.
 */
import type { Price } from '../../domain/routing/model.ts'
import type { MaxTokensField } from './llm.ts'

export type ModelIds = { llm?: readonly string[]; stt?: readonly string[]; tts?: readonly string[] }

export type Preset = {
  /** Null: there is none to guess, configuration must say. */
  baseUrl: string | null
  /** The usual variable of its key; null for a server that needs none. */
  keyVariable: string | null
  maxTokensField: MaxTokensField | null
  asksForUsage: boolean
  /** Served when only the key is there; null where a deployment's models are its own. */
  models: ModelIds | null
}

export const presets = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    keyVariable: 'OPENAI_API_KEY',
    maxTokensField: 'max_completion_tokens',
    asksForUsage: true,
    models: {
      llm: ['gpt-4o-mini', 'gpt-4.1-mini'],
      stt: ['whisper-1', 'gpt-4o-mini-transcribe'],
      tts: ['gpt-4o-mini-tts'],
    },
  },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
    maxTokensField: 'max_completion_tokens',
    asksForUsage: true,
    models: { llm: ['openai/gpt-oss-120b', 'openai/gpt-oss-20b'], stt: ['whisper-large-v3', 'whisper-large-v3-turbo'] },
  },
  cerebras: {
    baseUrl: 'https://api.cerebras.ai/v1',
    keyVariable: 'CEREBRAS_API_KEY',
    maxTokensField: 'max_tokens',
    asksForUsage: true,
    models: { llm: ['gpt-oss-120b'] },
  },
  // Refuses stream_options with 422 and reports usage by itself. Its speech is base64 in JSON and its transcriptions are a wire of their own, so only its LLMs are served.
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
    maxTokensField: 'max_tokens',
    asksForUsage: false,
    models: { llm: ['mistral-small-latest', 'mistral-medium-latest'] },
  },
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    maxTokensField: 'max_tokens',
    asksForUsage: true,
    models: { llm: ['openai/gpt-4o-mini'] },
  },
  ollama: {
    baseUrl: 'http://127.0.0.1:11434/v1',
    keyVariable: null,
    maxTokensField: 'max_tokens',
    asksForUsage: true,
    models: null,
  },
  vllm: { baseUrl: null, keyVariable: null, maxTokensField: 'max_tokens', asksForUsage: true, models: null },
} as const satisfies Record<string, Preset>

/** What is known beyond the id of a model, by base URL: the same name elsewhere costs something else. */
type KnownModel = { prices: readonly Price[]; deprecationDate?: string }

const list = { source: 'litellm 1.109.1, model prices', asOf: '2026-11-21' }
const perHour = (microUsd: number): Price[] => [{ unit: 'audio_hour', microUsd, ...list }]
/** Reasoning is billed as output. Micro-dollars a million tokens. */
const perToken = (input: number, cached: number | null, output: number): Price[] => [
  { unit: 'million_input_tokens', microUsd: input, ...list },
  { unit: 'million_cached_input_tokens', microUsd: cached, ...list },
  { unit: 'million_output_tokens', microUsd: output, ...list },
  { unit: 'million_reasoning_tokens', microUsd: output, ...list },
]

const known: Partial<Record<string, Record<string, KnownModel>>> = {
  [presets.openai.baseUrl]: {
    'gpt-4o-mini': { prices: perToken(150_000, 75_000, 600_000) },
    'gpt-4.1-mini': { prices: perToken(400_000, 100_000, 1_600_000) },
    'whisper-1': { prices: perHour(360_000), deprecationDate: '2027-02-26' },
    'gpt-4o-mini-transcribe': { prices: perHour(180_000), deprecationDate: '2027-02-26' },
    // Billed by audio tokens, which no price unit of ours counts.
    'gpt-4o-mini-tts': { prices: [], deprecationDate: '2027-01-06' },
  },
  [presets.groq.baseUrl]: {
    'openai/gpt-oss-120b': { prices: perToken(150_000, 75_000, 600_000) },
    'openai/gpt-oss-20b': { prices: perToken(75_000, 37_500, 300_000) },
    'whisper-large-v3': { prices: perHour(110_988) },
    'whisper-large-v3-turbo': { prices: perHour(39_996) },
  },
  [presets.cerebras.baseUrl]: { 'gpt-oss-120b': { prices: perToken(350_000, null, 750_000) } },
  [presets.mistral.baseUrl]: {
    'mistral-small-latest': { prices: perToken(150_000, 15_000, 600_000) },
    'mistral-medium-latest': { prices: perToken(1_500_000, 150_000, 7_500_000) },
  },
}

export function knownModel(baseUrl: string, id: string): KnownModel | undefined {
  return known[baseUrl.replace(/\/+$/, '')]?.[id]
}
