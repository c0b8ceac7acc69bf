/** ElevenLabs' models, with their audio formats and languages. */
import { type AudioSupport, noCapabilities } from '../../domain/ports/model.ts'
import type { VendorModel } from '../wire/adapter.ts'
import { nativeSpeech, oggOpus, pcmRatesHz } from './output-format.ts'

/** Speech model traits for the adapter only. The catalog row does not contain them. */
type SpeechTraits = {
  /**
   * False for models from the third and fourth generation: the socket `stream-input` refuses these models, so they are
   * used over HTTP.
   */
  socket: boolean
  /** True if the model accepts `language_code`. Other models refuse this field or have only one language. */
  languageCode: boolean
}

export const speechTraits: Readonly<Record<string, SpeechTraits>> = {
  eleven_v3: { socket: false, languageCode: true },
  eleven_v4: { socket: false, languageCode: true },
  eleven_v4_turbo: { socket: false, languageCode: true },
  eleven_multilingual_v2: { socket: true, languageCode: false },
  eleven_flash_v2_5: { socket: true, languageCode: true },
  eleven_turbo_v2_5: { socket: true, languageCode: true },
  eleven_flash_v2: { socket: true, languageCode: false },
  eleven_turbo_v2: { socket: true, languageCode: false },
}

const words = (text: string): string[] => text.trim().split(/\s+/)

const multilingualV2 = words('en ja zh de hi fr ko pt it es id nl tr fil pl sv bg ro ar cs el fi hr ms sk da ta uk ru')
const flashV25 = [...multilingualV2, 'hu', 'no', 'vi']
/** BCP 47 uses a two-letter ISO 639-1 code if there is one, so Mandarin (`cmn`) is `zh`. */
const thirdGeneration = words(`
  af ar hy as az be bn bs bg ca ceb ny hr cs da nl en et fil fi fr gl ka de el gu ha he hi hu is id ga it ja jv kn kk
  ky ko lv ln lt lb mk ms ml zh mr ne no ps fa pl pt pa ro ru sr sd sk sl so es sw sv ta te th tr uk ur vi cy`)
const scribe = words(`
  af am ar hy as ast az be bn bs bg my yue ca ceb ny hr cs da nl en et fil fi fr ff gl lg ka de el gu ha he hi hu is ig
  id ga it ja jv kea kn kk km ko ku ky lo lv ln lt luo lb mk ms ml mt zh mi mr mn ne nso no oc or ps fa pl pt pa ro ru
  sr sn sd sk sl so es sw sv ta tg te th tr uk umb ur uz vi cy wo xh zu`)

/** Files can have any sample rate: the vendor documents "all major formats". Raw samples are sent in a WAV. */
const readable: AudioSupport[] = [
  'pcm_s16le',
  'pcm_u8',
  'pcm_s24le',
  'pcm_s32le',
  'pcm_f32le',
  'flac',
  'mp3',
  'aac',
  'aac_adts',
  'opus',
].map((encoding) => ({ encoding, sampleRateRangeHz: { min: 8000, max: 192_000 }, channels: [1, 2] }))
const streamed: AudioSupport[] = [
  { encoding: 'pcm_s16le', sampleRatesHz: [8000, 16_000, 22_050, 24_000, 44_100, 48_000], channels: [1] },
  { encoding: 'mulaw', sampleRatesHz: [8000], channels: [1] },
]
const emitted: AudioSupport[] = [
  { encoding: 'pcm_s16le', sampleRatesHz: [...pcmRatesHz], channels: [1] },
  { encoding: 'mulaw', sampleRatesHz: [8000], channels: [1] },
  { encoding: 'alaw', sampleRatesHz: [8000], channels: [1] },
  { encoding: oggOpus.encoding, sampleRatesHz: [oggOpus.sampleRateHz], channels: [oggOpus.channels] },
]

const speech = (id: string, languages: string[], speed = true): VendorModel => ({
  id,
  stage: 'tts',
  capabilities: { ...noCapabilities, speed, batch: true, streaming: true },
  languages,
  audioFormats: emitted,
  // Each account has different voices. A request names a voice by its id, or gets the default voice in tts.ts.
  voices: [],
  providerOptions: [],
  nativeOutput: nativeSpeech,
})

const batch = (id: string, keywords: boolean, providerOptions: string[]): VendorModel => ({
  id,
  stage: 'stt',
  capabilities: { ...noCapabilities, diarization: true, keywords, word_timestamps: true, batch: true },
  languages: scribe,
  audioFormats: readable,
  voices: [],
  providerOptions,
})

/** Form fields for POST /v1/speech-to-text that a request may set directly. */
const batchOptions = ['tag_audio_events', 'num_speakers', 'diarization_threshold', 'temperature', 'seed']

export const elevenLabsModels: readonly VendorModel[] = [
  speech('eleven_flash_v2_5', flashV25),
  speech('eleven_turbo_v2_5', flashV25),
  speech('eleven_multilingual_v2', multilingualV2),
  // The third generation's models read only the stability from the voice settings, so they support no speed.
  speech('eleven_v3', thirdGeneration, false),
  // For the fourth generation the vendor claims more than 90 languages, but lists only the third generation's
  // languages.
  speech('eleven_v4', thirdGeneration, false),
  speech('eleven_v4_turbo', thirdGeneration, false),
  speech('eleven_flash_v2', ['en']),
  speech('eleven_turbo_v2', ['en']),
  batch('scribe_v2', true, [...batchOptions, 'no_verbatim']),
  batch('scribe_v1', false, batchOptions),
  {
    id: 'scribe_v2_realtime',
    stage: 'stt',
    capabilities: { ...noCapabilities, keywords: true, word_timestamps: true, streaming: true },
    languages: scribe,
    audioFormats: streamed,
    voices: [],
    providerOptions: [],
  },
]
