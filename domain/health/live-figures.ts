/**
 * One model's figures, measured by this service. They are means over its requests, and a sample's weight halves every
 * `halfLifeMs`. If there are too few recent samples, there is no figure. So one lucky answer does not promote a model,
 * and an old failure does not lower its rank for long.
 */
export type LiveFigures = {
  /** The time to the first media byte or token. Null until there were enough successes. */
  firstByteMs: number | null
  /** For speech to text, the processing time divided by the audio's duration. */
  realTimeFactor: number | null
  /** Between 0 and 1. */
  errorRate: number
  /** The time of the last sample, by Clock.nowMs(). */
  asOfMs: number
}

export type Sample = { firstByteMs?: number; realTimeFactor?: number; failed: boolean }

type Metric = 'firstByteMs' | 'realTimeFactor'
type Mean = { sum: number; weight: number }

const halfLifeMs = 120_000
const staleAfterMs = 600_000
const weightLeast = 3
/** Percentiles use the last `recentMax` samples, and need at least `recentLeast`. */
const recentMax = 128
const recentLeast = 20
/**
 * If a figure changes by less than this, the change is ignored, because it is noise. If it counted, every request would
 * compute the ranking again.
 */
const shownStep = 0.1

export class LiveSeries {
  #firstByte: Mean = { sum: 0, weight: 0 }
  #realTime: Mean = { sum: 0, weight: 0 }
  #errors: Mean = { sum: 0, weight: 0 }
  readonly #recent: { sample: Sample; atMs: number }[] = []
  #next = 0
  #lastMs = 0
  #shown: LiveFigures | null = null

  /** Adds a sample. Returns true if this changes the result of `shown`. */
  add(sample: Sample, monotonicMs: number, nowMs: number): boolean {
    const decay = 0.5 ** ((monotonicMs - this.#lastMs) / halfLifeMs)
    this.#lastMs = monotonicMs
    add(this.#firstByte, decay, sample.firstByteMs)
    add(this.#realTime, decay, sample.realTimeFactor)
    add(this.#errors, decay, sample.failed ? 1 : 0)
    if (!sample.failed) {
      this.#recent[this.#next] = { sample, atMs: monotonicMs }
      this.#next = (this.#next + 1) % recentMax
    }
    return this.#show(nowMs)
  }

  /** Forgets the failures so far. Returns true if this changes the result of `shown`. */
  forgive(nowMs: number): boolean {
    this.#errors.sum = 0
    return this.#show(nowMs)
  }

  /** Returns the metric's 95th percentile over recent answers. Null if too few were measured. */
  p95(metric: Metric, monotonicMs: number): number | null {
    const values = this.#recent
      .filter(({ atMs }) => monotonicMs - atMs < staleAfterMs)
      .flatMap(({ sample }) => sample[metric] ?? [])
      .sort((a, b) => a - b)
    return values.length < recentLeast ? null : (values[Math.ceil(values.length * 0.95) - 1] ?? null)
  }

  /** Counts the recent answers, at most `recentMax`. */
  samples(monotonicMs: number): number {
    return this.#recent.filter(({ atMs }) => monotonicMs - atMs < staleAfterMs).length
  }

  shown(): LiveFigures | null {
    return this.#shown
  }

  /** Returns the time at which the figures expire without a further sample. */
  staleAtMs(): number {
    return this.#lastMs + staleAfterMs
  }

  #show(nowMs: number): boolean {
    if (this.#errors.weight < weightLeast) return false
    const next: LiveFigures = {
      firstByteMs: mean(this.#firstByte),
      realTimeFactor: mean(this.#realTime),
      errorRate: this.#errors.sum / this.#errors.weight,
      asOfMs: nowMs,
    }
    if (this.#shown && !differs(this.#shown, next)) return false
    this.#shown = next
    return true
  }
}

function add(mean: Mean, decay: number, value: number | undefined): void {
  mean.sum *= decay
  mean.weight *= decay
  if (value === undefined) return
  mean.sum += value
  mean.weight += 1
}

function mean({ sum, weight }: Mean): number | null {
  return weight < weightLeast ? null : sum / weight
}

function differs(a: LiveFigures, b: LiveFigures): boolean {
  return (
    moved(a.firstByteMs, b.firstByteMs) ||
    moved(a.realTimeFactor, b.realTimeFactor) ||
    Math.abs(a.errorRate - b.errorRate) >= shownStep / 2
  )
}

function moved(a: number | null, b: number | null): boolean {
  if (a === null || b === null) return a !== b
  return Math.abs(a - b) > shownStep * a
}
