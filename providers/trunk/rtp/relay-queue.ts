/**
 * The audio between two connected legs. Both legs follow one timer, so a frame waits for 20 ms at most. If the other
 * leg catches up, it brings more frames than the timer takes. Then two frames are faded into one, so the delay does not
 * grow and no gap is audible.
 */
const framesMax = 2

export class RelayQueue {
  #frames: Int16Array[] = []

  /** The frame is copied. */
  push(frame: Int16Array): void {
    const last = this.#frames.length >= framesMax ? this.#frames.pop() : undefined
    this.#frames.push(last === undefined ? frame.slice() : faded(last, frame))
  }

  /** Null: nothing has come. */
  take(): Int16Array | null {
    return this.#frames.shift() ?? null
  }

  clear(): void {
    this.#frames = []
  }
}

/** Fades from one frame's beginning to the other frame's end. */
function faded(one: Int16Array, other: Int16Array): Int16Array {
  return one.map((sample, at) => {
    const share = at / one.length
    return Math.round(sample * (1 - share) + (other[at] ?? 0) * share)
  })
}
