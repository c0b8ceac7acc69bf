/** AssemblyAI's models. Live audio and recordings have separate models. */
import { type AudioSupport, type Capabilities, noCapabilities } from '../../domain/ports/model.ts'
import type { VendorModel } from '../wire/adapter.ts'

/** The vendor decodes all kinds of files. */
const files: AudioSupport[] = [
  'pcm_s16le',
  'pcm_u8',
  'pcm_s24le',
  'pcm_s32le',
  'pcm_f32le',
  'mulaw',
  'alaw',
  'flac',
  'mp3',
  'aac',
  'aac_adts',
  'opus',
].map((encoding) => ({ encoding, channels: [1, 2] }))
const frames: AudioSupport[] = ['pcm_s16le', 'mulaw'].map((encoding) => ({ encoding, channels: [1] }))

const six = ['en', 'es', 'fr', 'de', 'it', 'pt']
const eighteen = [...six, 'ar', 'da', 'fi', 'he', 'hi', 'ja', 'nl', 'no', 'sv', 'tr', 'vi', 'zh']
const all =
  `${eighteen.join(' ')} en-AU en-GB en-US de-CH af sq am hy as az ba eu be bn bs br bg my ca hr cs et fo gl ka el gu ht ha haw hu is id jv kn
  kk km ko lo la lv ln lt lb mk mg ms ml mt mi mr mn ne nn oc pa ps fa pl ro ru sa sr sn sd si sk sl so su sw fil tg ta tt te th bo tk uk ur uz cy yi yo`.split(
    /\s+/,
  )

/** Request fields with a scalar value. Clients may set them to change the transcript. */
const settings = [
  'punctuate',
  'format_text',
  'disfluencies',
  'filter_profanity',
  'multichannel',
  'speakers_expected',
  'speech_threshold',
  'language_confidence_threshold',
  'audio_start_from',
  'audio_end_at',
  'domain',
]

const shared = { stage: 'stt', voices: [] } as const

const batch = (id: string, languages: readonly string[], more: Partial<Capabilities>): VendorModel => ({
  ...shared,
  id,
  languages,
  capabilities: { ...noCapabilities, batch: true, diarization: true, keywords: true, word_timestamps: true, ...more },
  audioFormats: files,
  providerOptions: settings,
})

const live = (id: string, languages: readonly string[], more: Partial<Capabilities>): VendorModel => ({
  ...shared,
  id,
  languages,
  capabilities: { ...noCapabilities, streaming: true, keywords: true, word_timestamps: true, ...more },
  audioFormats: frames,
  providerOptions: [],
})

export const assemblyaiModels: readonly VendorModel[] = [
  batch('universal-3-pro', six, { prompt: true }),
  batch('universal-2', all, {}),
  live('universal-streaming-english', ['en'], {}),
  live('universal-streaming-multilingual', six, {}),
  live('u3-rt-pro', six, { prompt: true }),
  live('universal-3-5-pro', eighteen, { prompt: true }),
]
