import type { OutputFormat } from '../../audio/format.ts'

/** Every stage, in the order in which lists show them. */
export const stages = ['stt', 'llm', 'tts'] as const
export type Stage = (typeof stages)[number]

/**
 * The first other stage that `has` the model. A message names the stage of speech before that of language models, which is not the order
 * of the lists.
 */
export function otherStage(stage: Stage, has: (other: Stage) => boolean): Stage | null {
  const inMessages = ['stt', 'tts', 'llm'] as const
  return inMessages.find((other) => other !== stage && has(other)) ?? null
}

export type Objective = 'balanced' | 'quality' | 'latency' | 'cost'

/** An objective as requests name it. */
export type OptimizeFor = Objective | 'accuracy'

/** Published clients have the word `accuracy` and not `quality`. */
export function objectiveOf(word: OptimizeFor): Objective {
  return word === 'accuracy' ? 'quality' : word
}

/** Batch and streaming are separate identities: a streaming model is never ranked on a batch figure. */
export type Path = 'stream' | 'batch'

/** The abilities of a model. False means that asking for it is an error, never a silent drop. */
export type Capabilities = {
  tools: boolean
  structured_output: boolean
  cached_input: boolean
  reasoning: boolean
  diarization: boolean
  keywords: boolean
  noise_reduction: boolean
  word_timestamps: boolean
  prompt: boolean
  instructions: boolean
  speed: boolean
  batch: boolean
  streaming: boolean
}

export type Capability = keyof Capabilities

export type Voice = {
  id: string
  name: string
  gender: 'female' | 'male' | 'neutral'
  styles: string[]
  language?: string
}

export type AudioSupport = {
  encoding: string
  sampleRatesHz?: number[]
  sampleRateRangeHz?: { min: number; max: number }
  channels: number[]
}

/** A published or measured figure. `value` is null where nobody has measured: never a guess. */
export type Benchmark = {
  metric: string
  value: number | null
  unit: string
  language: string
  path: Path
  source: string
  sourceUrl?: string
  /** A day, or the month or the year where the source says no more. */
  asOf: string
  /** The figure was published by a seller of the model. */
  vendorReported?: boolean
}

export type PriceUnit =
  | 'audio_hour'
  | 'million_characters'
  | 'million_input_tokens'
  | 'million_cached_input_tokens'
  | 'million_output_tokens'
  | 'million_reasoning_tokens'
/** Null is an unknown price, 0 a free one. Without a path it holds for both. */
export type Price = {
  unit: PriceUnit
  microUsd: number | null
  path?: Path
  source: string
  sourceUrl?: string
  asOf: string
}

/** One row of the catalog. Its pin is `provider/id`. */
export type Model = {
  provider: string
  id: string
  stage: Stage
  capabilities: Capabilities
  /** BCP 47 base languages; `*` alone means any. */
  languages: readonly string[]
  /** STT: what it reads. TTS: what it emits without our resampling. */
  audioFormats: readonly AudioSupport[]
  voices: readonly Voice[]
  /** Settings of `provider_options` that this model takes. Others are refused by name. */
  providerOptions: readonly string[]
  benchmarks: readonly Benchmark[]
  prices: readonly Price[]
  /** Answers when no real model can (the scripted LLM), so it is ranked behind every other candidate. */
  lastResort: boolean
  /** TTS: the format in which its adapter hands audio over. */
  nativeOutput?: OutputFormat
  deprecationDate?: string
}

export const noCapabilities: Capabilities = {
  tools: false,
  structured_output: false,
  cached_input: false,
  reasoning: false,
  diarization: false,
  keywords: false,
  noise_reduction: false,
  word_timestamps: false,
  prompt: false,
  instructions: false,
  speed: false,
  batch: false,
  streaming: false,
}
