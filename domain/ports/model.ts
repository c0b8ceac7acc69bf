import type { OutputFormat } from '../../audio/format.ts'

/** All stages (speech to text, LLM and text to speech), in the order in which lists show them. */
export const stages = ['stt', 'llm', 'tts'] as const
export type Stage = (typeof stages)[number]

/** Finds another stage that has this model, for an error message. Speech stages are preferred to `llm`. */
export function otherStage(stage: Stage, has: (other: Stage) => boolean): Stage | null {
  const inMessages = ['stt', 'tts', 'llm'] as const
  return inMessages.find((other) => other !== stage && has(other)) ?? null
}

export type Objective = 'balanced' | 'quality' | 'latency' | 'cost'

/** An objective as requests spell it. */
export type OptimizeFor = Objective | 'accuracy'

/** Converts a request's objective: published clients send `accuracy` instead of `quality`. */
export function objectiveOf(word: OptimizeFor): Objective {
  return word === 'accuracy' ? 'quality' : word
}

/** Figures for batch and for streaming are kept apart, so a streaming model is never ranked on a batch figure. */
export type Path = 'stream' | 'batch'

/**
 * A model's abilities. If a request needs a missing ability, the request is refused. A needed ability is never silently
 * ignored.
 */
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

/** A published or measured figure. `value` is null if there is no measurement. The value is never estimated. */
export type Benchmark = {
  metric: string
  value: number | null
  unit: string
  language: string
  path: Path
  source: string
  sourceUrl?: string
  /** The figure's day, or only the month or year if the source does not state the day. */
  asOf: string
  /** True if the model's vendor published the figure. */
  vendorReported?: boolean
}

export type PriceUnit =
  | 'audio_hour'
  | 'million_characters'
  | 'million_input_tokens'
  | 'million_cached_input_tokens'
  | 'million_output_tokens'
  | 'million_reasoning_tokens'
/**
 * `microUsd` is null if the price is unknown, and 0 if the model is free. A price without a path is the same for both
 * paths.
 */
export type Price = {
  unit: PriceUnit
  microUsd: number | null
  path?: Path
  source: string
  sourceUrl?: string
  asOf: string
}

/** One catalog row. A request pins the row as `provider/id`. */
export type Model = {
  provider: string
  id: string
  stage: Stage
  capabilities: Capabilities
  /** BCP 47 base languages. `*` alone means any language. */
  languages: readonly string[]
  /** True if a request may name any region of a language. Absent: only a region in `languages`. */
  acceptsRegions?: true
  /** For STT the accepted formats. For TTS the formats that need no resampling by this server. */
  audioFormats: readonly AudioSupport[]
  voices: readonly Voice[]
  /** The `provider_options` accepted by this model. Other options are refused, and the error names them. */
  providerOptions: readonly string[]
  benchmarks: readonly Benchmark[]
  prices: readonly Price[]
  /**
   * The objectives for which the figures rank the model. For other objectives it has no score, so it ranks behind
   * models with a score. Absent: all objectives.
   */
  scoredFor?: readonly Objective[]
  /**
   * True if the model answers only when no real model can answer (the scripted LLM). It ranks behind every other
   * candidate.
   */
  lastResort: boolean
  /** For TTS: the adapter's output format. */
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
