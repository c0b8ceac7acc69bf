/** Cartesia's models: Sonic synthesizes speech, Ink recognizes speech. */
import { type AudioSupport, noCapabilities } from '../../domain/ports/model.ts'
import type { VendorModel } from '../wire/adapter.ts'

/**
 * True for models that detect a turn's end themselves; they use a separate socket path. Other models end an utterance
 * at our `finalize`.
 */
export const endsTurns = (model: string): boolean => model.startsWith('ink-2')

export const nativeSpeech = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 } as const
/** The sample rates for every speech encoding, in Hz. */
export const speechRatesHz: readonly number[] = [8000, 16_000, 22_050, 24_000, 44_100, 48_000]

const words = (text: string): string[] => text.trim().split(/\s+/)

const sonicLanguages = words(`
  en de es fr ja pt zh hi ko it nl pl ru sv tr fil bg ro ar cs el fi hr ms sk da ta uk hu no nb vi bn th he ka id te gu
  kn ml mr pa`)
const whisperLanguages = words(`
  en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no nb th ur hr bg lt la mi ml cy
  sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo
  uz fo ht ps tk nn mt sa lb my bo fil mg as tt haw ln ha ba jv su yue`)

const frames: AudioSupport[] = ['pcm_s16le', 'mulaw', 'alaw'].map((encoding) => ({ encoding, channels: [1] }))
/**
 * A catalog row has one list for files and live audio. Opus and two channels are left out, because the vendor accepts
 * them only in files.
 */
const files: AudioSupport[] = ['pcm_u8', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'flac', 'mp3', 'aac'].map(
  (encoding) => ({
    encoding,
    channels: [1, 2],
  }),
)

const sonic = (id: string): VendorModel => ({
  id,
  stage: 'tts',
  capabilities: { ...noCapabilities, speed: true, batch: true, streaming: true },
  languages: sonicLanguages,
  audioFormats: ['pcm_s16le', 'pcm_f32le', 'mulaw', 'alaw'].map((encoding) => ({
    encoding,
    sampleRatesHz: [...speechRatesHz],
    channels: [1],
  })),
  // The vendor has hundreds of voices, and each account may have more. A request names a voice by its id, or gets the
  // default voice in tts-fields.ts.
  voices: [],
  providerOptions: [],
  nativeOutput: nativeSpeech,
})

const shared = { stage: 'stt', voices: [], providerOptions: [] } as const

export const cartesiaModels: readonly VendorModel[] = [
  sonic('sonic-3.5'),
  sonic('sonic-3'),
  {
    ...shared,
    id: 'ink-2',
    capabilities: { ...noCapabilities, keywords: true, streaming: true },
    languages: ['en'],
    audioFormats: frames,
  },
  {
    ...shared,
    id: 'ink-whisper',
    // This model does not detect the language. Without a language it expects English.
    capabilities: { ...noCapabilities, word_timestamps: true, batch: true, streaming: true },
    languages: whisperLanguages,
    audioFormats: [...frames, ...files],
  },
]
