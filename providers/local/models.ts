import { opusRatesHz } from '../../audio/opus.ts'
import type { AudioSupport, Model, Price, PriceUnit } from '../../domain/ports/model.ts'
import { noCapabilities } from '../../domain/ports/model.ts'
import type { Recognizer } from './recognition/recognizer.ts'
import { recognizers } from './recognizers.ts'
import { scriptLanguageTags } from './script/languages/languages.ts'
import { voiceEngines } from './voice-engines.ts'
import { type VoiceEngine, voiceFormat } from './voices/voice-engine.ts'

const provider = 'local'
const asOf = '2026-11-21'

const rates = { min: 4000, max: 192_000 }
const channels = [1, 2, 3, 4, 5, 6, 7, 8]
const samples = ['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'mulaw', 'alaw', 'flac']
const sttFormats: readonly AudioSupport[] = [
  ...samples.map((encoding) => ({ encoding, sampleRateRangeHz: rates, channels })),
  { encoding: 'mp3', sampleRateRangeHz: { min: 8000, max: 48_000 }, channels: [1, 2] },
  { encoding: 'opus', sampleRatesHz: [...opusRatesHz], channels },
]

const shared = { provider, providerOptions: [], benchmarks: [] } as const

/** This list has all models. Some models' files may be missing: `offered-models.ts` leaves these models out. */
export const localModels: readonly Model[] = [
  ...recognizers.map(recognizerModel),
  ...voiceEngines.map(voiceModel),
  {
    ...shared,
    id: 'scripted',
    stage: 'llm',
    capabilities: { ...noCapabilities, tools: true, structured_output: true, batch: true, streaming: true },
    languages: scriptLanguageTags,
    audioFormats: [],
    voices: [],
    prices: [free('million_input_tokens'), free('million_output_tokens')],
    lastResort: true,
  },
]

function recognizerModel({ model, languages, benchmarks, scoredFor }: Recognizer): Model {
  return {
    ...shared,
    id: model,
    stage: 'stt',
    capabilities: { ...noCapabilities, batch: true, streaming: true },
    languages,
    audioFormats: sttFormats,
    voices: [],
    benchmarks,
    prices: [free('audio_hour')],
    lastResort: false,
    ...(scoredFor && { scoredFor }),
  }
}

function voiceModel({ model, languages, voices, sampleRateHz, englishErrorsPercent }: VoiceEngine): Model {
  return {
    ...shared,
    id: model,
    stage: 'tts',
    capabilities: { ...noCapabilities, speed: true, batch: true, streaming: true },
    languages,
    acceptsRegions: true,
    audioFormats: [{ encoding: 'pcm_s16le', sampleRatesHz: [sampleRateHz], channels: [1] }],
    voices,
    // Without a benchmark result, only the latency measured by this server would rank the voices, and the voice used
    // last would stay in first place.
    benchmarks: [
      {
        metric: 'wer_pct',
        value: englishErrorsPercent,
        unit: 'percent',
        language: 'en',
        path: 'stream',
        source: 'Parley, spoken prompts',
        asOf: '2026-11',
        vendorReported: true,
      },
    ],
    prices: [free('million_characters')],
    lastResort: false,
    nativeOutput: voiceFormat(sampleRateHz),
  }
}

function free(unit: PriceUnit): Price {
  return { unit, microUsd: 0, source: 'embedded', asOf }
}
