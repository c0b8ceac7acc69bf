/** Limits the client's sending: audio beside real time, and text frames in a window. */

/** Part of the contract. */
export const audioAheadMsMax = 2000
export const textFramesMax = 50
export const textWindowMs = 10_000
/** After a stall, a connection's audio arrives at once. Only this much counts as delayed audio. */
const stallMsMax = 10_000

export class AudioPace {
  #aheadMs = 0
  #lastMs: number

  constructor(nowMs: number) {
    this.#lastMs = nowMs
  }

  /** False if the client is now too far ahead of real time. */
  take(audioMs: number, nowMs: number): boolean {
    this.#aheadMs = Math.max(this.#aheadMs - (nowMs - this.#lastMs), -stallMsMax) + audioMs
    this.#lastMs = nowMs
    return this.#aheadMs <= audioAheadMsMax
  }
}

export class TextPace {
  /** The last frames' times, as a ring. */
  readonly #times = new Float64Array(textFramesMax).fill(Number.NEGATIVE_INFINITY)
  #next = 0

  /** False if this frame is one too many in the window. */
  take(nowMs: number): boolean {
    const oldestMs = this.#times[this.#next] ?? 0
    this.#times[this.#next] = nowMs
    this.#next = (this.#next + 1) % textFramesMax
    return nowMs - oldestMs >= textWindowMs
  }
}
