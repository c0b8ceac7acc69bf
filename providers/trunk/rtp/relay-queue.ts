/**
 * Queues one leg's received audio for a connected leg. One timer drives both legs, so a frame waits for 20 ms at most.
 * After a network delay, the first leg delivers more frames than the timer reads. Then two frames are cross-faded into
 * a single frame, so the delay does not grow and no gap is audible.
 */
const framesMax = 2

export class RelayQueue {
  #frames: Int16Array[] = []

  /** Adds a copy of the frame. */
  push(frame: Int16Array): void {
    const last = this.#frames.length >= framesMax ? this.#frames.pop() : undefined
    this.#frames.push(last === undefined ? frame.slice() : faded(last, frame))
  }

  /** Returns the next frame, or null if no frame waits. */
  take(): Int16Array | null {
    return this.#frames.shift() ?? null
  }

  clear(): void {
    this.#frames = []
  }
}

/** Cross-fades from one frame's beginning to the other frame's end. */
function faded(one: Int16Array, other: Int16Array): Int16Array {
  return one.map((sample, at) => {
    const share = at / one.length
    return Math.round(sample * (1 - share) + (other[at] ?? 0) * share)
  })
}
