/** Limits how fast a client sends: audio in comparison with real time, and text frames in a window. */

/** The limits in the contract. */
export const audioAheadMsMax = 2000
export const textFramesMax = 50
export const textWindowMs = 10_000
/**
 * After a stall, a connection's delayed audio arrives all at once. At most this much audio counts as delayed. More
 * audio counts as sent too fast.
 */
const stallMsMax = 10_000

export class AudioPace {
  #aheadMs = 0
  #lastMs: number

  constructor(nowMs: number) {
    this.#lastMs = nowMs
  }

  /** Counts audio. Returns false if the client is now too far ahead of real time. */
  take(audioMs: number, nowMs: number): boolean {
    this.#aheadMs = Math.max(this.#aheadMs - (nowMs - this.#lastMs), -stallMsMax) + audioMs
    this.#lastMs = nowMs
    return this.#aheadMs <= audioAheadMsMax
  }
}

export class TextPace {
  /** The times of the last frames, as a ring. */
  readonly #times = new Float64Array(textFramesMax).fill(Number.NEGATIVE_INFINITY)
  #next = 0

  /** Counts a frame. Returns false if the window then has too many frames. */
  take(nowMs: number): boolean {
    const oldestMs = this.#times[this.#next] ?? 0
    this.#times[this.#next] = nowMs
    this.#next = (this.#next + 1) % textFramesMax
    return nowMs - oldestMs >= textWindowMs
  }
}
