import type { Objective, Path, PriceUnit, Stage } from '../ports/model.ts'

/** Each part's weight in the score. The weights are public: docs and preview quote these numbers. */
export const weights: Record<Objective, Record<Axis, number>> = {
  balanced: { quality: 0.5, latency: 0.3, cost: 0.2 },
  quality: { quality: 0.8, latency: 0.1, cost: 0.1 },
  latency: { quality: 0.1, latency: 0.8, cost: 0.1 },
  cost: { quality: 0.1, latency: 0.1, cost: 0.8 },
}

export type Axis = 'quality' | 'latency' | 'cost'
export const axes: readonly Axis[] = ['quality', 'latency', 'cost']

/** The axis with the largest weight for each objective. A model without a figure for this axis has no score. */
export const leading: Record<Objective, Axis> = {
  balanced: 'quality',
  quality: 'quality',
  latency: 'latency',
  cost: 'cost',
}

export type QualityMetric = { metric: string; better: 'lower' | 'higher' }

/**
 * The quality metrics, the most preferred first. Each pair of metric and source is a separate scale, because word error
 * rates from two test sets cannot be compared. One scale is used at a time (see `scaleFor` in score.ts).
 */
export const qualityMetrics: Record<Stage, readonly QualityMetric[]> = {
  stt: [
    { metric: 'wer_pct_mean', better: 'lower' },
    { metric: 'wer_pct', better: 'lower' },
    { metric: 'aa_wer_final_pct', better: 'lower' },
    { metric: 'aa_wer_v2_pct', better: 'lower' },
    { metric: 'semantic_wer_pooled_pct', better: 'lower' },
    { metric: 'cer_pct', better: 'lower' },
  ],
  tts: [
    { metric: 'aa_speech_arena_elo', better: 'higher' },
    { metric: 'wer_pct', better: 'lower' },
  ],
  llm: [{ metric: 'pass_rate_pct', better: 'higher' }],
}

/**
 * The names under which sources publish a model's latency. Lower is better. Published and measured milliseconds are
 * compared with each other.
 */
export const latencyMetrics: Record<Stage, Record<Path, readonly string[]>> = {
  stt: { stream: ['first_byte_ms', 'ttfs_p50_ms'], batch: ['real_time_factor'] },
  tts: { stream: ['first_byte_ms', 'ttfa_p50_ms'], batch: ['first_byte_ms'] },
  llm: { stream: ['first_byte_ms', 'ttfb_p50_ms'], batch: ['first_byte_ms'] },
}

/** The live figure for the latency in `latencyMetrics`, as measured by this server. */
export const measuredLatency: Record<Stage, Record<Path, 'firstByteMs' | 'realTimeFactor'>> = {
  stt: { stream: 'firstByteMs', batch: 'realTimeFactor' },
  tts: { stream: 'firstByteMs', batch: 'firstByteMs' },
  llm: { stream: 'firstByteMs', batch: 'firstByteMs' },
}

/**
 * The fractions of the units in a typical request, so that the cost is one number. An LLM reads three tokens for each
 * token that it writes.
 */
export const costMix: Record<Stage, readonly { unit: PriceUnit; share: number }[]> = {
  stt: [{ unit: 'audio_hour', share: 1 }],
  tts: [{ unit: 'million_characters', share: 1 }],
  llm: [
    { unit: 'million_input_tokens', share: 0.75 },
    { unit: 'million_output_tokens', share: 0.25 },
  ],
}
