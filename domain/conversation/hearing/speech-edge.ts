/**
 * Finds where speech ends, precise to 5 ms. Voice activity detection works on whole 32 ms frames, so its measured end
 * was 35 ms early after a final "d" and 25 ms late after an open vowel. So near the detected end, the last loud 5 ms
 * step is used as the end if only silence follows it:
 *
 *   level   ▇▇▅▇▃▂▁_________
 *   window      [    ▲    ]        ▲ the end by voice activity detection
 *
 * In noise no silence follows, so the detected end is kept.
 */
import { vadFrameSamples, vadLateFramesMax, vadRateHz } from '../../ports/vad.ts'

const stepMs = 5
const stepSamples = (vadRateHz * stepMs) / 1000
/** Keeps levels for the last 2 s, and for frames that the VAD may not have answered yet: 18 s. */
const bufferedSteps = 400 + Math.ceil((vadLateFramesMax * vadFrameSamples) / stepSamples)
/** The window is shorter than the silence that ends speech, so it never contains the start of the next speech. */
const windowMs = 100
/**
 * A step is loud if it is above `silenceBelow`, and above this part of the loudest step in the last second (-42 dB).
 */
const loudAbove = 0.008
const loudestOverMs = 1000
/** Steps below this level are silence: -44 dB full scale. */
const silenceBelow = 200

export class SpeechEdge {
  readonly #peaks = new Uint16Array(bufferedSteps)
  #steps = 0
  #peak = 0
  #filled = 0

  /** Records the samples' levels. Their rate is `vadRateHz`. */
  push(samples: Int16Array): void {
    for (const sample of samples) {
      const level = Math.abs(sample)
      if (level > this.#peak) this.#peak = level
      if (++this.#filled < stepSamples) continue
      this.#peaks[this.#steps++ % bufferedSteps] = this.#peak
      this.#filled = this.#peak = 0
    }
  }

  /**
   * Returns the exact end near `atMs`, the end that voice activity detection found. Returns `atMs` if no silence
   * follows.
   */
  endNear(atMs: number): number {
    const from = Math.floor((atMs - windowMs) / stepMs)
    const to = Math.floor((atMs + windowMs) / stepMs)
    const start = Math.floor((atMs - loudestOverMs) / stepMs)
    if (to > this.#steps || start < this.#steps - bufferedSteps) return atMs
    let loudest = 0
    for (let step = Math.max(0, start); step < to; step++) loudest = Math.max(loudest, this.#peakOf(step))
    const loud = Math.max(silenceBelow, loudAbove * loudest)
    let last = to - 1
    while (last >= from && this.#peakOf(last) < loud) last--
    return last < from || last === to - 1 ? atMs : (last + 1) * stepMs
  }

  #peakOf(step: number): number {
    return step < 0 ? 0 : (this.#peaks[step % bufferedSteps] ?? 0)
  }
}
