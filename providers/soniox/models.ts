/** What Soniox' live models can do: one model for all languages, which may change from word to word. */
import { type AudioSupport, noCapabilities } from '../../domain/routing/model.ts'
import type { VendorModel } from '../vendor.ts'

const languages =
  `af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr gl gu he hi hr hu id it ja kk kn ko lt lv mk ml mr ms nl no pa pl pt ro ru
  sk sl sq sr sv sw ta te th tr uk ur vi zh`.split(/\s+/)

const audioFormats: AudioSupport[] = ['pcm_s16le', 'mulaw', 'alaw'].map((encoding) => ({ encoding, channels: [1] }))

const live = (id: string): VendorModel => ({
  id,
  stage: 'stt',
  capabilities: { ...noCapabilities, streaming: true, keywords: true, prompt: true, word_timestamps: true },
  languages,
  regions: ['us'],
  audioFormats,
  voices: [],
  providerOptions: [],
})

export const sonioxModels: readonly VendorModel[] = [live('stt-rt-v5'), live('stt-rt-v4')]
