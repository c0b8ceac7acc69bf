/** Lists the models: language models with their reasoning efforts, speech models with their voices. */
import type { OutputFormat } from '../../audio/format.ts'
import { noCapabilities, type Voice } from '../../domain/ports/model.ts'
import type { VendorModel } from '../wire/adapter.ts'

export type Traits = {
  /** The `thinkingConfig` for each reasoning effort. An effort without an entry is refused. */
  efforts: Partial<Record<string, object>>
  /** True if the model requires earlier function calls to be sent back with their thought signatures. */
  signsCalls: boolean
}

const budget = (thinkingBudget: number) => ({ thinkingBudget })
const level = (thinkingLevel: string) => ({ thinkingLevel })
const levels = { low: level('LOW'), medium: level('MEDIUM'), high: level('HIGH') }

const traits: Partial<Record<string, Traits>> = {
  'gemini-3.8-flash': { efforts: { minimal: level('LOW'), ...levels }, signsCalls: true },
  'gemini-3-flash-preview': { efforts: { minimal: level('MINIMAL'), ...levels }, signsCalls: true },
  'gemini-2.5-flash': {
    efforts: { none: budget(0), minimal: budget(1024), low: budget(1024), medium: budget(8192), high: budget(24_576) },
    signsCalls: false,
  },
}

/** An unlisted model is most likely newer than these, so it gets the traits of the newest models. */
const unlistedTraits: Traits = { efforts: { minimal: level('LOW'), ...levels }, signsCalls: true }

export function traitsOf(model: string): Traits {
  return (Object.hasOwn(traits, model) ? traits[model] : undefined) ?? unlistedTraits
}

/** The audio format if the speech response's `mimeType` names no format. */
export const nativeSpeech: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }

/** The first voice in the vendor's examples. */
export const defaultVoice = 'Kore'

/** The languages supported since the vendor's first speech model. Today the vendor claims many more languages. */
const languages = [
  ...['ar', 'bn', 'de', 'en', 'es', 'fr', 'hi', 'id', 'it', 'ja', 'ko', 'mr'],
  ...['nl', 'pl', 'pt', 'ro', 'ru', 'ta', 'te', 'th', 'tr', 'uk', 'vi'],
]

const female: Record<string, string> = {
  Achernar: 'soft',
  Aoede: 'breezy',
  Autonoe: 'bright',
  Callirrhoe: 'easy-going',
  Despina: 'smooth',
  Erinome: 'clear',
  Gacrux: 'mature',
  Kore: 'firm',
  Laomedeia: 'upbeat',
  Leda: 'youthful',
  Pulcherrima: 'forward',
  Sulafat: 'warm',
  Vindemiatrix: 'gentle',
  Zephyr: 'bright',
}
const male: Record<string, string> = {
  Achird: 'friendly',
  Algenib: 'gravelly',
  Algieba: 'smooth',
  Alnilam: 'firm',
  Charon: 'informative',
  Enceladus: 'breathy',
  Fenrir: 'excitable',
  Iapetus: 'clear',
  Orus: 'firm',
  Puck: 'upbeat',
  Rasalgethi: 'informative',
  Sadachbia: 'lively',
  Sadaltager: 'knowledgeable',
  Schedar: 'even',
  Umbriel: 'easy-going',
  Zubenelgenubi: 'casual',
}

/** Every voice speaks every language. */
const voices: Voice[] = [...voicesOf('female', female), ...voicesOf('male', male)]

function voicesOf(gender: Voice['gender'], styles: Record<string, string>): Voice[] {
  return Object.entries(styles).map(([id, style]) => ({ id, name: id, gender, styles: [style] }))
}

const llms = Object.keys(traits).map(
  (id): VendorModel => ({
    id,
    stage: 'llm',
    capabilities: {
      ...noCapabilities,
      tools: true,
      structured_output: true,
      cached_input: true,
      reasoning: true,
      batch: true,
      streaming: true,
    },
    languages: ['*'],
    audioFormats: [],
    voices: [],
    providerOptions: [],
  }),
)

const speakers = ['gemini-3.8-flash-tts', 'gemini-3.8-flash-lite-tts'].map(
  (id): VendorModel => ({
    id,
    stage: 'tts',
    capabilities: { ...noCapabilities, instructions: true, batch: true, streaming: true },
    languages,
    audioFormats: [
      {
        encoding: nativeSpeech.encoding,
        sampleRatesHz: [nativeSpeech.sampleRateHz],
        channels: [nativeSpeech.channels],
      },
    ],
    voices,
    nativeOutput: nativeSpeech,
    providerOptions: [],
  }),
)

export const geminiModels: readonly VendorModel[] = [...llms, ...speakers]
