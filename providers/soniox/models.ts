/**
 * Soniox' models: speech to text for all languages, even if the language changes from word to word, and one model for
 * text to speech.
 */
import { type AudioSupport, noCapabilities } from '../../domain/ports/model.ts'
import type { VendorModel } from '../wire/adapter.ts'

const languages =
  `af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr gl gu he hi hr hu id it ja kk kn ko lt lv mk ml mr ms nl no pa pl pt ro ru
  sk sl sq sr sv sw ta te th tr uk ur vi zh`.split(/\s+/)

const audioFormats: AudioSupport[] = ['pcm_s16le', 'mulaw', 'alaw'].map((encoding) => ({ encoding, channels: [1] }))

const live = (id: string): VendorModel => ({
  id,
  stage: 'stt',
  capabilities: { ...noCapabilities, streaming: true, keywords: true, prompt: true, word_timestamps: true },
  languages,
  audioFormats,
  voices: [],
  providerOptions: [],
})

export const nativeSpeech = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 } as const
/** The sample rates for linear samples, in Hz. G.711 has only 8 kHz. */
export const speechRatesHz: readonly number[] = [8000, 16_000, 24_000, 44_100, 48_000]

const spoken = (encoding: string, sampleRatesHz: readonly number[]): AudioSupport => ({
  encoding,
  sampleRatesHz: [...sampleRatesHz],
  channels: [1],
})

const speech: VendorModel = {
  id: 'tts-rt-v2',
  stage: 'tts',
  capabilities: { ...noCapabilities, speed: true, batch: true, streaming: true },
  languages: [...languages, 'is', 'su', 'uz'],
  audioFormats: [
    spoken('pcm_s16le', speechRatesHz),
    spoken('pcm_f32le', speechRatesHz),
    spoken('mulaw', [8000]),
    spoken('alaw', [8000]),
  ],
  // The vendor has about two hundred voices, and each account may have more. A request names a voice by its id, or gets
  // the default voice in tts-fields.ts.
  voices: [],
  providerOptions: [],
  nativeOutput: nativeSpeech,
}

export const sonioxModels: readonly VendorModel[] = [live('stt-rt-v5'), live('stt-rt-v4'), speech]
