/** Speechmatics' live models. Both have the same languages, and neither detects the spoken language. */
import { type AudioSupport, noCapabilities } from '../../domain/ports/model.ts'
import type { VendorModel } from '../wire/adapter.ts'

const languages =
  `en en-GB en-US en-AU ar ba eu be bg bn yue ca hr cs da nl eo et fa fi fr gl de el he hi hu it id ga ja ko lv lt ms mt zh mr mn no pl pt
  ro ru sk sl es sv sw ta th tr ug uk ur vi cy`.split(/\s+/)

const audioFormats: AudioSupport[] = ['pcm_s16le', 'mulaw'].map((encoding) => ({ encoding, channels: [1] }))

const live = (id: string): VendorModel => ({
  id,
  stage: 'stt',
  capabilities: { ...noCapabilities, streaming: true, keywords: true, word_timestamps: true },
  languages,
  audioFormats,
  voices: [],
  providerOptions: [],
})

export const speechmaticsModels: readonly VendorModel[] = [live('enhanced'), live('standard')]
