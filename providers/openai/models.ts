/** Catalog rows out of the ids that configuration names. A capability is true where the protocol has it and no model of that name is known to lack it. */
import { type AudioSupport, type Model, noCapabilities, type Stage } from '../../domain/catalog/model.ts'
import { published } from '../catalog/rows.ts'
import { type ModelIds, type Preset, vendorAt } from './presets.ts'
import { oggOpus, speechManner } from './tts-families.ts'

/** `live`: the ids of `stt` that also listen while somebody speaks. */
export function modelRows(
  provider: string,
  baseUrl: string,
  ids: ModelIds,
  live: readonly string[],
  transcriptions?: Preset['transcriptions'],
): Model[] {
  // The same name at another address is another server, of which nothing is known.
  const vendor = vendorAt(baseUrl)
  const row = (stage: Stage, id: string): Model => {
    const known = vendor === null ? { benchmarks: [], prices: [] } : published(vendor, stage, id)
    const columns = stage === 'stt' && transcriptions === 'voxtral' ? voxtral : stages[stage](id)
    const isLive = stage === 'stt' && live.includes(id)
    return {
      provider,
      id,
      stage,
      languages: ['*'],
      regions: ['global'],
      providerOptions: [],
      lastResort: false,
      ...columns,
      ...(isLive && { capabilities: { ...columns.capabilities, streaming: true } }),
      ...known,
    }
  }
  return (['llm', 'stt', 'tts'] as const).flatMap((stage) => (ids[stage] ?? []).map((id) => row(stage, id)))
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
    capabilities: { ...noCapabilities, prompt: true, word_timestamps: !withoutWordTimes.test(id), batch: true },
    audioFormats: readable,
    voices: [],
  }),
  tts: (id) => {
    const { native, opus, instructions, speed, languages, voices } = speechManner(id)
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

/** These refuse `reasoning_effort`. */
const withoutReasoning = /(^|\/)(gpt-3\.5|gpt-4|chatgpt-4o|mistral-)/
/** These answer `json` only: no `verbose_json`, so no times. */
const withoutWordTimes = /(^|\/)gpt-.*transcribe/

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
  'opus',
].map((encoding) => ({ encoding, ...anyRate }))

/** Voxtral 2's languages. Its successors hear more, these among them. */
const voxtral: StageColumns = {
  capabilities: { ...noCapabilities, diarization: true, keywords: true, word_timestamps: true, batch: true },
  audioFormats: readable,
  voices: [],
  languages: ['ar', 'de', 'en', 'es', 'fr', 'hi', 'it', 'ja', 'ko', 'nl', 'pt', 'ru', 'zh'],
}
