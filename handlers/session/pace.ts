/** The bounds of what a client may send: audio beside real time, and text frames in a window. */

/** Part of the contract. */
export const audioAheadMsMax = 2000
export const textFramesMax = 50
export const textWindowMs = 10_000
/** The audio of a connection that stood still arrives at once. More than this is not taken as its arrears. */
const stallMsMax = 10_000

export class AudioPace {
  #aheadMs = 0
  #lastMs: number

  constructor(nowMs: number) {
    this.#lastMs = nowMs
  }

  /** False: with this audio the client is too far ahead of real time. */
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

  /** False: this frame is one too many in the window. */
  take(nowMs: number): boolean {
    const oldestMs = this.#times[this.#next] ?? 0
    this.#times[this.#next] = nowMs
    this.#next = (this.#next + 1) % textFramesMax
    return nowMs - oldestMs >= textWindowMs
  }
}
