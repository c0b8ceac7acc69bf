/**
 * Creates catalog rows from the configured model ids. A capability is true if the protocol supports it, unless a model
 * with this name is known not to support it.
 */
import { type AudioSupport, type Model, noCapabilities, type Stage } from '../../domain/ports/model.ts'
import { type ModelIds, type OpenAiServer, vendorAt } from '../vendors/vendors.ts'
import type { PublishedCatalog } from '../wire/adapter.ts'
import { oggOpus, ttsFamilyOf } from './tts-families.ts'

type RowsOptions = {
  id: string
  baseUrl: string
  models: ModelIds
  /** The ids in `models.stt` that also transcribe live. */
  live: readonly string[]
  transcriptions: OpenAiServer['transcriptions']
}

export function modelRows(options: RowsOptions, catalog: PublishedCatalog): Model[] {
  const { models, live } = options
  // Published prices and benchmark results are used only for the vendor's base URL: at another URL, a model with the
  // same name may be a different model.
  const vendor = vendorAt(options.baseUrl)
  const row = (stage: Stage, id: string): Model => ({
    ...rowOf(options, stage, id, live.includes(id)),
    ...(vendor !== null && catalog.published(vendor, stage, id)),
  })
  return (['llm', 'stt', 'tts'] as const).flatMap((stage) => (models[stage] ?? []).map((id) => row(stage, id)))
}

/** Returns the row for a model not in the configuration. Returns null if the provider serves no model for the stage. */
export function unlistedRow(options: RowsOptions, stage: Stage, id: string, isLive: boolean): Model | null {
  return options.models[stage]?.length ? rowOf(options, stage, id, isLive) : null
}

function rowOf({ id: provider, transcriptions }: RowsOptions, stage: Stage, id: string, isLive: boolean): Model {
  const columns = stage === 'stt' && transcriptions === 'voxtral' ? voxtral : stages[stage](id)
  return {
    provider,
    id,
    stage,
    languages: ['*'],
    providerOptions: [],
    lastResort: false,
    benchmarks: [],
    prices: [],
    ...columns,
    ...(stage === 'stt' && isLive && { capabilities: { ...columns.capabilities, streaming: true } }),
  }
}

type StageColumns = Pick<Model, 'capabilities' | 'audioFormats' | 'voices'> &
  Partial<Pick<Model, 'languages' | 'nativeOutput'>>

const stages: Record<Stage, (id: string) => StageColumns> = {
  llm: (id) => ({
    capabilities: {
      ...noCapabilities,
      tools: true,
      structured_output: true,
      cached_input: true,
      reasoning: !withoutReasoning.test(id),
      batch: true,
      streaming: true,
    },
    audioFormats: [],
    voices: [],
  }),
  stt: (id) => ({
    capabilities: { ...noCapabilities, prompt: true, word_timestamps: givesTimes(id), batch: true },
    audioFormats: readable,
    voices: [],
  }),
  tts: (id) => {
    const { native, opus, instructions, speed, languages, voices } = ttsFamilyOf(id)
    return {
      capabilities: { ...noCapabilities, instructions, speed, batch: true, streaming: true },
      audioFormats: [native, ...(opus ? [oggOpus] : [])].map(({ encoding, sampleRateHz, channels }) => ({
        encoding,
        sampleRatesHz: [sampleRateHz],
        channels: [channels],
      })),
      languages,
      voices,
      nativeOutput: native,
    }
  },
}

/** These models refuse `reasoning_effort`. */
const withoutReasoning = /(^|\/)(gpt-3\.5|gpt-4|chatgpt-4o|mistral-)/
/** These models support the response format `json` but not `verbose_json`, so they return no times. */
const withoutTimes = /(^|\/)gpt-.*transcribe/
export const givesTimes = (model: string): boolean => !withoutTimes.test(model)

const anyRate = { sampleRateRangeHz: { min: 8000, max: 192_000 }, channels: [1, 2] }
const readable: AudioSupport[] = [
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
  'opus',
].map((encoding) => ({ encoding, ...anyRate }))

/** Voxtral 2's languages. Newer Voxtral models recognise these languages and further ones. */
const voxtral: StageColumns = {
  capabilities: { ...noCapabilities, diarization: true, keywords: true, word_timestamps: true, batch: true },
  audioFormats: readable,
  voices: [],
  languages: ['ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'ko', 'nl', 'pt', 'ru', 'zh'],
}
