/**
 * The vendor table: one entry holds a vendor's name, the environment variable for its key, the adapter and the vendor's
 * language codes. A server with OpenAI's protocol needs only an entry and no code. The base URLs and language codes
 * come from the vendors' documents; values not documented there are left out. registry.ts loads the adapters, and the
 * table in docs/providers.md is generated from these entries.
 */

import type { Stage } from '../../domain/ports/model.ts'

export type ModelIds = { llm?: readonly string[]; stt?: readonly string[]; tts?: readonly string[] }

/** The names of the request field for the token limit. */
export type MaxTokensField = 'max_tokens' | 'max_completion_tokens'

export type RealtimeRules = 'openai' | 'speaches'

/** A server with OpenAI's protocol, and how it differs from other servers. */
export type OpenAiServer = {
  /** The base URL. Null if the configuration must set the base URL. */
  baseUrl: string | null
  /** The request field for the token limit. Null if the field depends on the model's name. */
  maxTokensField: MaxTokensField | null
  /** False if the server refuses `stream_options` and reports usage without it. */
  asksForUsage: boolean
  /** True if LLM requests are sent to /responses. */
  responses?: true
  /** Live transcription: the models (a list, or all models for speech to text), and the socket's protocol variant. */
  realtime?: { models: readonly string[] | 'all'; rules: RealtimeRules }
  /** The protocol variant for transcription requests, if their fields differ from OpenAI's. */
  transcriptions?: 'voxtral'
  /** The default models if the configuration lists no models. Null if they differ between deployments. */
  models: ModelIds | null
}

/** A vendor's language spelling, if it differs from canonical BCP 47. */
type LanguageTags = {
  /** Maps a canonical tag to the vendor's code. */
  codes: Readonly<Record<string, string>>
  /** Converts every tag without an entry in `codes`. By default the tag is sent unchanged. */
  spell?: (tag: string) => string
}

/** Adapters for a protocol used by only one vendor. */
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
  /** The display name. */
  name: string
  /** The usual environment variable for the vendor's key. Null if the server needs no key. */
  keyVariable: string | null
  languageTags?: LanguageTags
  /**
   * Patterns for the vendor's model ids. With a pattern, a model id without a vendor is routed to the vendor even if
   * the catalog does not list it.
   */
  ids?: Partial<Record<Stage, RegExp>>
  /**
   * The listed model to copy an unlisted model's row from. Without an entry, unlisted models for this stage are not
   * served. A server with OpenAI's protocol needs no entry: its rows are made from the model ids.
   */
  unlisted?: Partial<Record<Stage, string>>
  /**
   * The path, below the base URL, of a free GET request that the vendor refuses without a valid key. It checks a key.
   * If a server needs no key, the request only shows that the server answers. Null if the vendor documents no such
   * request.
   */
  keyCheck: string | null
} & ({ adapter: VendorAdapter | 'local' | 'loopback' } | { adapter: 'openai'; server: OpenAiServer })

/** The vendors. Providers without a configuration are listed in this order. */
export const vendors = {
  local: { name: 'Embedded engines', adapter: 'local', keyVariable: null, keyCheck: null },
  loopback: { name: 'Loopback', adapter: 'loopback', keyVariable: null, keyCheck: null },
  openai: {
    name: 'OpenAI',
    adapter: 'openai',
    keyVariable: 'OPENAI_API_KEY',
    keyCheck: '/models',
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
        // GPT-5 and later models must be requested by name: they refuse sampling settings, but voice agents send them,
        // so auto routing must not choose these models.
        llm: ['gpt-4o-mini', 'gpt-4.1-mini', 'gpt-4o', 'gpt-4.1'],
        stt: ['whisper-1', 'gpt-4o-mini-transcribe', 'gpt-4o-transcribe'],
        tts: ['gpt-4o-mini-tts', 'tts-1', 'tts-1-hd'],
      },
      responses: true,
      // gpt-live-transcribe and gpt-realtime-whisper are left out, because they do not detect an utterance's end point,
      // and a stream needs end points.
      realtime: { models: ['gpt-4o-mini-transcribe', 'gpt-4o-transcribe'], rules: 'openai' },
    },
  },
  groq: {
    name: 'Groq',
    adapter: 'openai',
    keyVariable: 'GROQ_API_KEY',
    keyCheck: '/models',
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
    keyCheck: '/models',
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
    keyCheck: '/models',
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
    // The list of models is public, so it proves no key.
    keyCheck: '/key',
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
    keyCheck: '/models',
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
    keyCheck: '/models',
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
    keyCheck: '/models',
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
    keyCheck: '/models',
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
    keyCheck: '/models',
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
    keyCheck: '/v1/models?limit=1',
    ids: { llm: /^claude-/ },
    unlisted: { llm: 'claude-sonnet-4-6' },
  },
  assemblyai: {
    name: 'AssemblyAI',
    adapter: 'assemblyai',
    keyVariable: 'ASSEMBLYAI_API_KEY',
    keyCheck: '/v2/transcript?limit=1',
    ids: { stt: /^(u3-|universal-)/ },
    unlisted: { stt: 'universal-2' },
    // The vendor's codes are in lower case with an underscore, and some are older codes replaced in BCP 47.
    languageTags: {
      codes: { 'en-GB': 'en_uk', jv: 'jw', fil: 'tl' },
      spell: (tag) => tag.toLowerCase().replaceAll('-', '_'),
    },
  },
  cartesia: {
    name: 'Cartesia',
    adapter: 'cartesia',
    keyVariable: 'CARTESIA_API_KEY',
    keyCheck: '/voices?limit=1',
    ids: { stt: /^ink-/, tts: /^sonic(-|$)/ },
    unlisted: { stt: 'ink-whisper', tts: 'sonic-3' },
    // The vendor uses Whisper's codes: ISO 639-1, with older codes for Filipino, Javanese and Norwegian.
    languageTags: { codes: { fil: 'tl', jv: 'jw', nb: 'no' } },
  },
  deepgram: {
    name: 'Deepgram',
    adapter: 'deepgram',
    keyVariable: 'DEEPGRAM_API_KEY',
    // Keys without rights of administration may send this request too.
    keyCheck: '/v1/auth/token',
    ids: { stt: /^(base|enhanced|flux|nova)(-|$)/, tts: /^aura-/ },
    unlisted: { stt: 'nova-3', tts: 'aura-2' },
    // The vendor has Tagalog and Norwegian. Their canonical tags are Filipino (`fil`) and Bokmål (`nb`).
    languageTags: { codes: { fil: 'tl', nb: 'no' } },
  },
  elevenlabs: {
    name: 'ElevenLabs',
    adapter: 'elevenlabs',
    keyVariable: 'ELEVENLABS_API_KEY',
    keyCheck: '/v1/user',
    ids: { stt: /^scribe_/, tts: /^eleven_/ },
    unlisted: { stt: 'scribe_v2', tts: 'eleven_multilingual_v2' },
  },
  gemini: {
    name: 'Google Gemini',
    adapter: 'gemini',
    keyVariable: 'GEMINI_API_KEY',
    keyCheck: '/v1beta/models?pageSize=1',
    ids: { llm: /^gemini-(?!.*(tts|live|image|embedding))/, tts: /^gemini-.*tts/ },
    unlisted: { llm: 'gemini-3.8-flash', tts: 'gemini-3.8-flash-tts' },
  },
  soniox: {
    name: 'Soniox',
    adapter: 'soniox',
    keyVariable: 'SONIOX_API_KEY',
    keyCheck: '/v1/models',
    ids: { stt: /^stt-(rt|async)-/, tts: /^tts-rt-/ },
    unlisted: { stt: 'stt-rt-v5', tts: 'tts-rt-v2' },
    languageTags: { codes: { fil: 'tl' } },
  },
  speechmatics: {
    name: 'Speechmatics',
    adapter: 'speechmatics',
    keyVariable: 'SPEECHMATICS_API_KEY',
    // At the host for live recognition, only a session shows if a key is valid.
    keyCheck: null,
    unlisted: { stt: 'enhanced' },
    // The vendor has a separate code for Mandarin.
    languageTags: { codes: { zh: 'cmn' } },
  },
} as const satisfies Record<string, Vendor>

export type VendorId = keyof typeof vendors

export function isVendorId(id: string): id is VendorId {
  return Object.hasOwn(vendors, id)
}

/** Returns the id of the vendor with this published base URL. Returns null for other servers. */
export function vendorAt(baseUrl: string): VendorId | null {
  const address = baseUrl.replace(/\/+$/, '')
  const isAt = (vendor: Vendor) => vendor.adapter === 'openai' && vendor.server.baseUrl === address
  return vendorIds.find((id) => isAt(vendors[id])) ?? null
}

export const vendorIds = Object.keys(vendors) as VendorId[]

/** Returns the vendor's display name, or the provider's id if the configuration sets the base URL. */
export function vendorNameOf(
  id: string,
  configs: readonly { id: string; adapter: string; baseUrl?: string }[],
): string {
  const config = configs.find((each) => each.id === id)
  const vendor = config === undefined ? id : config.baseUrl === undefined ? config.adapter : id
  return isVendorId(vendor) ? vendors[vendor].name : id
}

/** Returns a server's published base URL from the table. Returns null if the adapter itself contains the URLs. */
export function publishedAddress(adapter: string): string | null {
  const vendor: Vendor | null = isVendorId(adapter) ? vendors[adapter] : null
  return vendor?.adapter === 'openai' ? vendor.server.baseUrl : null
}
