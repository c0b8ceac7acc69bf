/**
 * The vendor table: one entry holds the name, the key variable, the adapter and the language spelling. A server with
 * OpenAI's protocol is an entry with data and needs no code. The addresses and spellings come from the vendors'
 * documents; a value without confirmation there is left out. registry.ts loads the adapters, and the table in
 * docs/providers.md is made from these entries.
 */

import type { Stage } from '../../domain/ports/model.ts'

export type ModelIds = { llm?: readonly string[]; stt?: readonly string[]; tts?: readonly string[] }

/** The token limit's field name. */
export type MaxTokensField = 'max_tokens' | 'max_completion_tokens'

export type RealtimeRules = 'openai' | 'speaches'

/** A server with OpenAI's protocol, and how it differs from other servers. */
export type OpenAiServer = {
  /** Null if the configuration must name it. */
  baseUrl: string | null
  /** Null if the model's name decides. */
  maxTokensField: MaxTokensField | null
  /** False if the server refuses `stream_options` and reports usage without it. */
  asksForUsage: boolean
  /** LLM requests go to /responses. */
  responses?: true
  /** Live transcription: the models, from `models.stt` or from the configuration, and their socket's protocol. */
  realtime?: { models: readonly string[] | 'all'; rules: RealtimeRules }
  /** The transcription request's fields. By default OpenAI's. */
  transcriptions?: 'voxtral'
  /** The models served if the configuration names no models; null if they differ between deployments. */
  models: ModelIds | null
}

/** A vendor's language spelling, if it differs from canonical BCP 47. */
type LanguageTags = {
  /** Canonical tag → the vendor's code. */
  codes: Readonly<Record<string, string>>
  /** Spells every tag outside `codes`. By default the tag is sent unchanged. */
  spell?: (tag: string) => string
}

/** Adapters with a protocol that only one vendor speaks. */
export type VendorAdapter =
  | 'anthropic'
  | 'assemblyai'
  | 'cartesia'
  | 'deepgram'
  | 'elevenlabs'
  | 'gemini'
  | 'soniox'
  | 'speechmatics'

export type Vendor = {
  /** The name for people. */
  name: string
  /** The usual environment variable for its key; null if the server needs no key. */
  keyVariable: string | null
  languageTags?: LanguageTags
  /** The vendor's model id patterns. With them a bare id outside the catalog still leads to the vendor. */
  ids?: Partial<Record<Stage, RegExp>>
  /**
   * An unlisted model takes the fields of this listed model. Without an entry, the stage's unlisted models are not
   * served. A server with OpenAI's protocol needs no entry: its rows are made from the ids.
   */
  unlisted?: Partial<Record<Stage, string>>
} & ({ adapter: VendorAdapter | 'local' | 'loopback' } | { adapter: 'openai'; server: OpenAiServer })

/** The vendors, in the order of the providers without a configuration. */
export const vendors = {
  local: { name: 'Embedded engines', adapter: 'local', keyVariable: null },
  loopback: { name: 'Loopback', adapter: 'loopback', keyVariable: null },
  openai: {
    name: 'OpenAI',
    adapter: 'openai',
    keyVariable: 'OPENAI_API_KEY',
    ids: {
      llm: /^(gpt-(?!.*(transcribe|tts|realtime|audio|image))|chatgpt-|o\d+(-|$))/,
      stt: /^(whisper-1$|gpt-.*(transcribe|whisper))/,
      tts: /^(tts-1|gpt-.*tts)/,
    },
    server: {
      baseUrl: 'https://api.openai.com/v1',
      maxTokensField: 'max_completion_tokens',
      asksForUsage: true,
      models: {
        // GPT-5 and later models are reached only by name: they refuse sampling settings, which voice agents send, so
        // auto routing must not choose them.
        llm: ['gpt-4o-mini', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4.1'],
        stt: ['whisper-1', 'gpt-4o-mini-transcribe', 'gpt-4o-transcribe'],
        tts: ['gpt-4o-mini-tts', 'tts-1', 'tts-1-hd'],
      },
      responses: true,
      // gpt-live-transcribe and gpt-realtime-whisper are left out, because they do not find an utterance's end point,
      // as a stream must.
      realtime: { models: ['gpt-4o-mini-transcribe', 'gpt-4o-transcribe'], rules: 'openai' },
    },
  },
  groq: {
    name: 'Groq',
    adapter: 'openai',
    keyVariable: 'GROQ_API_KEY',
    server: {
      baseUrl: 'https://api.groq.com/openai/v1',
      maxTokensField: 'max_completion_tokens',
      asksForUsage: true,
      models: {
        llm: ['openai/gpt-oss-120b', 'openai/gpt-oss-20b'],
        stt: ['whisper-large-v3', 'whisper-large-v3-turbo'],
        tts: ['canopylabs/orpheus-v1-english', 'canopylabs/orpheus-arabic-saudi'],
      },
    },
  },
  cerebras: {
    name: 'Cerebras',
    adapter: 'openai',
    keyVariable: 'CEREBRAS_API_KEY',
    server: {
      baseUrl: 'https://api.cerebras.ai/v1',
      maxTokensField: 'max_tokens',
      asksForUsage: true,
      models: { llm: ['gpt-oss-120b'] },
    },
  },
  // Mistral refuses `stream_options` with 422 and reports usage without it.
  mistral: {
    name: 'Mistral AI',
    adapter: 'openai',
    keyVariable: 'MISTRAL_API_KEY',
    ids: {
      llm: /^(codestral|devstral|magistral|ministral|mistral|open-mistral|pixtral)-/,
      stt: /^voxtral-(?!.*tts)/,
      tts: /^voxtral-.*tts/,
    },
    server: {
      baseUrl: 'https://api.mistral.ai/v1',
      maxTokensField: 'max_tokens',
      asksForUsage: false,
      models: {
        llm: ['mistral-small-latest', 'mistral-medium-latest'],
        stt: ['voxtral-mini-transcribe-3-0', 'voxtral-small-transcribe-3-0', 'voxtral-mini-2602'],
        tts: ['voxtral-mini-tts-3-0', 'voxtral-mini-tts-2603'],
      },
      transcriptions: 'voxtral',
    },
  },
  openrouter: {
    name: 'OpenRouter',
    adapter: 'openai',
    keyVariable: 'OPENROUTER_API_KEY',
    server: {
      baseUrl: 'https://openrouter.ai/api/v1',
      maxTokensField: 'max_tokens',
      asksForUsage: true,
      models: { llm: ['openai/gpt-4o-mini'] },
    },
  },
  ollama: {
    name: 'Ollama',
    adapter: 'openai',
    keyVariable: null,
    server: {
      baseUrl: 'http://127.0.0.1:11434/v1',
      maxTokensField: 'max_tokens',
      asksForUsage: true,
      models: null,
    },
  },
  lmstudio: {
    name: 'LM Studio',
    adapter: 'openai',
    keyVariable: null,
    server: {
      baseUrl: 'http://127.0.0.1:1234/v1',
      maxTokensField: 'max_tokens',
      asksForUsage: true,
      models: null,
    },
  },
  speaches: {
    name: 'Speaches',
    adapter: 'openai',
    keyVariable: null,
    server: {
      baseUrl: 'http://127.0.0.1:8000/v1',
      maxTokensField: 'max_tokens',
      asksForUsage: true,
      models: null,
      realtime: { models: 'all', rules: 'speaches' },
    },
  },
  kokoro: {
    name: 'Kokoro',
    adapter: 'openai',
    keyVariable: null,
    server: {
      baseUrl: 'http://127.0.0.1:8880/v1',
      maxTokensField: null,
      asksForUsage: true,
      models: { tts: ['kokoro'] },
    },
  },
  vllm: {
    name: 'vLLM',
    adapter: 'openai',
    keyVariable: null,
    server: {
      baseUrl: null,
      maxTokensField: 'max_tokens',
      asksForUsage: true,
      models: null,
    },
  },
  anthropic: {
    name: 'Anthropic',
    adapter: 'anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
    ids: { llm: /^claude-/ },
    unlisted: { llm: 'claude-sonnet-4-6' },
  },
  assemblyai: {
    name: 'AssemblyAI',
    adapter: 'assemblyai',
    keyVariable: 'ASSEMBLYAI_API_KEY',
    ids: { stt: /^(u3-|universal-)/ },
    unlisted: { stt: 'universal-2' },
    // Its codes are in lower case with an underscore, and some are codes that BCP 47 has replaced.
    languageTags: {
      codes: { 'en-GB': 'en_uk', jv: 'jw', fil: 'tl' },
      spell: (tag) => tag.toLowerCase().replaceAll('-', '_'),
    },
  },
  cartesia: {
    name: 'Cartesia',
    adapter: 'cartesia',
    keyVariable: 'CARTESIA_API_KEY',
    ids: { stt: /^ink-/, tts: /^sonic(-|$)/ },
    unlisted: { stt: 'ink-whisper', tts: 'sonic-3' },
    // Its codes are Whisper's: ISO 639-1, with older codes for Filipino, Javanese and Norwegian.
    languageTags: { codes: { fil: 'tl', jv: 'jw', nb: 'no' } },
  },
  deepgram: {
    name: 'Deepgram',
    adapter: 'deepgram',
    keyVariable: 'DEEPGRAM_API_KEY',
    ids: { stt: /^(base|enhanced|flux|nova)(-|$)/, tts: /^aura-/ },
    unlisted: { stt: 'nova-3', tts: 'aura-2' },
    // The canonical tags for Tagalog and Norwegian are Filipino and Bokmål.
    languageTags: { codes: { fil: 'tl', nb: 'no' } },
  },
  elevenlabs: {
    name: 'ElevenLabs',
    adapter: 'elevenlabs',
    keyVariable: 'ELEVENLABS_API_KEY',
    ids: { stt: /^scribe_/, tts: /^eleven_/ },
    unlisted: { stt: 'scribe_v2', tts: 'eleven_multilingual_v2' },
  },
  gemini: {
    name: 'Google Gemini',
    adapter: 'gemini',
    keyVariable: 'GEMINI_API_KEY',
    ids: { llm: /^gemini-(?!.*(tts|live|image|embedding))/, tts: /^gemini-.*tts/ },
    unlisted: { llm: 'gemini-3.8-flash', tts: 'gemini-3.8-flash-tts' },
  },
  soniox: {
    name: 'Soniox',
    adapter: 'soniox',
    keyVariable: 'SONIOX_API_KEY',
    ids: { stt: /^stt-(rt|async)-/, tts: /^tts-rt-/ },
    unlisted: { stt: 'stt-rt-v5', tts: 'tts-rt-v2' },
    languageTags: { codes: { fil: 'tl' } },
  },
  speechmatics: {
    name: 'Speechmatics',
    adapter: 'speechmatics',
    keyVariable: 'SPEECHMATICS_API_KEY',
    unlisted: { stt: 'enhanced' },
    // The vendor has a separate code for Mandarin.
    languageTags: { codes: { zh: 'cmn' } },
  },
} as const satisfies Record<string, Vendor>

export type VendorId = keyof typeof vendors

export function isVendorId(id: string): id is VendorId {
  return Object.hasOwn(vendors, id)
}

/** Returns the vendor with this published address, by its catalog name; null for other servers. */
export function vendorAt(baseUrl: string): VendorId | null {
  const address = baseUrl.replace(/\/+$/, '')
  const isAt = (vendor: Vendor) => vendor.adapter === 'openai' && vendor.server.baseUrl === address
  return vendorIds.find((id) => isAt(vendors[id])) ?? null
}

export const vendorIds = Object.keys(vendors) as VendorId[]

/** Returns the vendor's name. If the configuration sets the address, the provider's id is used. */
export function vendorNameOf(
  id: string,
  configs: readonly { id: string; adapter: string; baseUrl?: string }[],
): string {
  const config = configs.find((each) => each.id === id)
  const vendor = config === undefined ? id : config.baseUrl === undefined ? config.adapter : id
  return isVendorId(vendor) ? vendors[vendor].name : id
}

/**
 * Returns a server's published address from the table; null for an adapter that knows its vendor's addresses itself.
 */
export function publishedAddress(adapter: string): string | null {
  const vendor: Vendor | null = isVendorId(adapter) ? vendors[adapter] : null
  return vendor?.adapter === 'openai' ? vendor.server.baseUrl : null
}
