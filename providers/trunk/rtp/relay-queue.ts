/**
 * The audio that a leg receives from the leg with which it is connected. Both follow one timer, so a frame waits for 20 ms
 * at most. If the other leg catches up, it brings more frames than there is time for: two are then faded into one, so that
 * neither the delay grows nor a gap is heard.
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

/** From the beginning of the one to the end of the other. */
function faded(one: Int16Array, other: Int16Array): Int16Array {
  return one.map((sample, at) => {
    const share = at / one.length
    return Math.round(sample * (1 - share) + (other[at] ?? 0) * share)
  })
}
