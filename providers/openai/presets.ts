/**
 * Servers that speak OpenAI's protocol, as data: where they are, which variable holds their key, how they differ.
 * Base URLs and spellings are the vendors' own; what could not be confirmed is not here.
 */
import type { MaxTokensField } from './llm.ts'

export type ModelIds = { llm?: readonly string[]; stt?: readonly string[]; tts?: readonly string[] }

export type RealtimeRules = 'openai' | 'speaches'

export type Preset = {
  /** Null: there is none to guess, configuration must say. */
  baseUrl: string | null
  /** The usual variable of its key; null for a server that needs none. */
  keyVariable: string | null
  maxTokensField: MaxTokensField | null
  asksForUsage: boolean
  /** LLMs are asked by /responses. */
  responses?: true
  /** Of `models.stt`, or of what configuration names: those that listen on a socket too, and whose rules the session follows. */
  realtime?: { models: readonly string[] | 'all'; rules: RealtimeRules }
  /** Recordings are transcribed in this way. Absent: in OpenAI's. */
  transcriptions?: 'voxtral'
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
      stt: ['whisper-1', 'gpt-4o-mini-transcribe', 'gpt-4o-transcribe'],
      tts: ['gpt-4o-mini-tts'],
    },
    responses: true,
    // gpt-live-transcribe and gpt-realtime-whisper find no end of an utterance by themselves, which a stream here must.
    realtime: { models: ['gpt-4o-mini-transcribe', 'gpt-4o-transcribe'], rules: 'openai' },
  },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariable: 'GROQ_API_KEY',
    maxTokensField: 'max_completion_tokens',
    asksForUsage: true,
    models: {
      llm: ['openai/gpt-oss-120b', 'openai/gpt-oss-20b'],
      stt: ['whisper-large-v3', 'whisper-large-v3-turbo'],
      tts: ['canopylabs/orpheus-v1-english'],
    },
  },
  cerebras: {
    baseUrl: 'https://api.cerebras.ai/v1',
    keyVariable: 'CEREBRAS_API_KEY',
    maxTokensField: 'max_tokens',
    asksForUsage: true,
    models: { llm: ['gpt-oss-120b'] },
  },
  // Refuses stream_options with 422 and reports usage by itself.
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    keyVariable: 'MISTRAL_API_KEY',
    maxTokensField: 'max_tokens',
    asksForUsage: false,
    models: {
      llm: ['mistral-small-latest', 'mistral-medium-latest'],
      stt: ['voxtral-mini-transcribe-3-0', 'voxtral-small-transcribe-3-0', 'voxtral-mini-2602'],
      tts: ['voxtral-mini-tts-3-0', 'voxtral-mini-tts-2603'],
    },
    transcriptions: 'voxtral',
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
  lmstudio: {
    baseUrl: 'http://127.0.0.1:1234/v1',
    keyVariable: null,
    maxTokensField: 'max_tokens',
    asksForUsage: true,
    models: null,
  },
  speaches: {
    baseUrl: 'http://127.0.0.1:8000/v1',
    keyVariable: null,
    maxTokensField: 'max_tokens',
    asksForUsage: true,
    models: null,
    realtime: { models: 'all', rules: 'speaches' },
  },
  kokoro: {
    baseUrl: 'http://127.0.0.1:8880/v1',
    keyVariable: null,
    maxTokensField: null,
    asksForUsage: true,
    models: { tts: ['kokoro'] },
  },
  vllm: { baseUrl: null, keyVariable: null, maxTokensField: 'max_tokens', asksForUsage: true, models: null },
} as const satisfies Record<string, Preset>

/** The vendor whose own address this is, as the catalog names it; null for any other server. */
export function vendorAt(baseUrl: string): string | null {
  const address = baseUrl.replace(/\/+$/, '')
  return Object.entries<Preset>(presets).find(([, preset]) => preset.baseUrl === address)?.[0] ?? null
}
