/**
 * Deepgram's models. The languages come from Deepgram's documentation for each model, in Deepgram's spelling. If the
 * catalog spells a language in another way, the catalog's spelling is used.
 */
import { type AudioSupport, noCapabilities } from '../../domain/ports/model.ts'
import type { VendorModel } from '../wire/adapter.ts'
import { aura2Languages, aura2Voices } from './voices.ts'

/** True for models that detect a turn's end themselves. They have a separate protocol. */
export const isFlux = (model: string): boolean => model.startsWith('flux-')
/** True for models with only English. For them language detection must not be requested. */
export const isEnglish = (model: string): boolean => model.endsWith('-medical')
/** True for models with the field `keyterm`; older models use the field `keywords`. */
export const takesKeyterms = (model: string): boolean => isFlux(model) || model.startsWith('nova-3')

/** The catalog's model name for all Aura 2 voices, because the voices share one catalog row. */
export const aura2 = 'aura-2'

const speechRates = [8000, 16_000, 24_000, 32_000, 48_000]
const nativeSpeech = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 } as const

/** The sample rates for speech, over HTTP and over the socket, in Hz. */
export const speakableRates = { pcm_s16le: speechRates, mulaw: [8000, 16_000], alaw: [8000, 16_000] } as const

const anyRate = { sampleRateRangeHz: { min: 8000, max: 192_000 }, channels: [1, 2] }
/** Live audio must have one of the first four encodings; files can have any encoding in this list. */
const readable: AudioSupport[] = [
  'pcm_s16le',
  'mulaw',
  'alaw',
  'opus',
  'pcm_u8',
  'pcm_s24le',
  'pcm_s32le',
  'pcm_f32le',
  'flac',
  'mp3',
  'aac',
  'aac_adts',
].map((encoding) => ({ encoding, ...anyRate }))

const fluxRatesHz = [8000, 16_000, 24_000, 44_100, 48_000]
const fluxReadable: AudioSupport[] = ['pcm_s16le', 'mulaw', 'alaw', 'opus'].map((encoding) => ({
  encoding,
  sampleRatesHz: fluxRatesHz,
  channels: [1],
}))

const english = ['en', 'en-US']
const nova2Languages =
  'en en-US en-AU en-GB en-NZ en-IN bg ca zh zh-CN zh-Hans zh-TW zh-Hant zh-HK cs da da-DK nl nl-BE et fi fr fr-CA de de-CH el hi hu id it ja ko ko-KR lv lt ms no nb pl pt pt-BR pt-PT ro ru sk es es-419 sv sv-SE th th-TH tr uk vi'
const nova3Languages =
  'en en-US ar be bg bn bs ca cs da da-DK de de-CH el es es-419 et fa fi fil fr fr-CA gu gu-IN he hi hr hu id it ja kk kk-KZ kn ko ko-KR lt lv mk mr ms nb ne nl nl-BE no pa pa-IN pl pt pt-BR pt-PT ro ru sk sl sr sv sv-SE ta te th th-TH tr uk ur vi zh zh-CN zh-Hans zh-TW zh-Hant zh-HK'
const fluxLanguages = 'en es fr de hi ru pt ja it nl'

const fileOptions = [
  'dictation',
  'filler_words',
  'measurements',
  'mip_opt_out',
  'numerals',
  'profanity_filter',
  'punctuate',
  'redact',
  'smart_format',
  'utt_split',
  'version',
]

const nova = (id: string, languages: readonly string[]): VendorModel => ({
  id,
  stage: 'stt',
  capabilities: {
    ...noCapabilities,
    diarization: true,
    keywords: true,
    word_timestamps: true,
    batch: true,
    streaming: true,
  },
  languages,
  audioFormats: readable,
  voices: [],
  providerOptions: fileOptions,
})

const flux = (id: string, languages: readonly string[]): VendorModel => ({
  ...nova(id, languages),
  capabilities: { ...noCapabilities, keywords: true, word_timestamps: true, streaming: true },
  audioFormats: fluxReadable,
  providerOptions: [],
})

export const deepgramModels: readonly VendorModel[] = [
  nova('nova-3', nova3Languages.split(' ')),
  nova('nova-3-medical', english),
  nova('nova-2', nova2Languages.split(' ')),
  flux('flux-general-en', ['en']),
  flux('flux-general-multi', fluxLanguages.split(' ')),
  {
    id: aura2,
    stage: 'tts',
    capabilities: { ...noCapabilities, speed: true, batch: true, streaming: true },
    languages: aura2Languages,
    audioFormats: [
      ...Object.entries(speakableRates).map(([encoding, rates]) => ({
        encoding,
        sampleRatesHz: [...rates],
        channels: [1],
      })),
      { encoding: 'opus', sampleRatesHz: [48_000], channels: [1] },
    ],
    voices: aura2Voices,
    providerOptions: [],
    nativeOutput: nativeSpeech,
  },
]
