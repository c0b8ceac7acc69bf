/** Catalog rows out of the ids that configuration names. A capability is true where the protocol has it and no model of that name is known to lack it. */
import { type AudioSupport, type Model, noCapabilities, type Stage, type Voice } from '../../domain/routing/model.ts'
import { knownModel, type ModelIds } from './presets.ts'
import { nativeSpeech, oggOpus } from './tts.ts'

export function modelRows(provider: string, baseUrl: string, ids: ModelIds): Model[] {
  const row = (stage: Stage, id: string): Model => {
    const facts = knownModel(baseUrl, id)
    return {
      provider,
      id,
      stage,
      languages: ['*'],
      regions: ['global'],
      providerOptions: [],
      benchmarks: [],
      prices: facts?.prices ?? [],
      lastResort: false,
      ...stages[stage](id),
      ...(facts?.deprecationDate !== undefined && { deprecationDate: facts.deprecationDate }),
    }
  }
  return (['llm', 'stt', 'tts'] as const).flatMap((stage) => (ids[stage] ?? []).map((id) => row(stage, id)))
}

type StageColumns = Pick<Model, 'capabilities' | 'audioFormats' | 'voices' | 'nativeOutput'>

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
    // Streaming recognition is another protocol (a socket) and another model.
    capabilities: { ...noCapabilities, prompt: true, word_timestamps: !withoutWordTimes.test(id), batch: true },
    audioFormats: readable,
    voices: [],
  }),
  tts: (id) => ({
    capabilities: {
      ...noCapabilities,
      instructions: !withoutInstructions.test(id),
      speed: true,
      batch: true,
      streaming: true,
    },
    audioFormats: [nativeSpeech, oggOpus].map(({ encoding, sampleRateHz, channels }) => ({
      encoding,
      sampleRatesHz: [sampleRateHz],
      channels: [channels],
    })),
    voices,
    nativeOutput: nativeSpeech,
  }),
}

/** These refuse `reasoning_effort`. */
const withoutReasoning = /(^|\/)(gpt-3\.5|gpt-4|chatgpt-4o|mistral-)/
/** These answer `json` only: no `verbose_json`, so no times. */
const withoutWordTimes = /(^|\/)gpt-.*transcribe/

/** These ignore `instructions`. */
const withoutInstructions = /(^|\/)(tts-1|kokoro)/

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

const voices: Voice[] = (
  [
    ['alloy', 'neutral'],
    ['ash', 'male'],
    ['ballad', 'male'],
    ['coral', 'female'],
    ['echo', 'male'],
    ['fable', 'neutral'],
    ['nova', 'female'],
    ['onyx', 'male'],
    ['sage', 'female'],
    ['shimmer', 'female'],
    ['verse', 'male'],
  ] as const
).map(([id, gender]) => ({ id, name: id, gender, styles: [] }))
