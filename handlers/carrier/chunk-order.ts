/**
 * Puts a stream's frames in the order of their numbers. A missing frame is given up when a frame `windowMax` or more
 * later has come, at 20 ms each. No timer is needed, because a stream never pauses.
 */

/** Frames that wait for an earlier one: 80 ms. */
const windowMax = 4
/** A jump larger than this, in either direction, starts a new count. A stream has 50 frames a second. */
const lateMax = 500

export class ChunkOrder {
  readonly #deliver: (payload: string) => void
  /** By frame number modulo `windowMax`. */
  readonly #buffer: (string | null)[] = new Array<string | null>(windowMax).fill(null)
  #bufferedCount = 0
  /** The next frame's number. Null before the first frame. */
  #next: number | null = null

  /** `deliver` receives each payload in its turn. */
  constructor(deliver: (payload: string) => void) {
    this.#deliver = deliver
  }

  push(chunk: number, payload: string): void {
    const next = this.#next ?? chunk
    if (chunk < next - lateMax || chunk > next + lateMax) return this.#restart(chunk, payload)
    // Its place in the audio has passed.
    if (chunk < next) return
    this.#next = next
    while (chunk - this.#next >= windowMax) this.#step()
    const place = chunk % windowMax
    if (this.#buffer[place] === null) this.#bufferedCount++
    this.#buffer[place] = payload
    while (this.#bufferedCount > 0 && this.#buffer[this.#next % windowMax] !== null) this.#step()
  }

  /** The stream is over, so missing frames will not come. */
  flush(): void {
    while (this.#bufferedCount > 0) this.#step()
  }

  #restart(chunk: number, payload: string): void {
    this.flush()
    this.#next = chunk + 1
    this.#deliver(payload)
  }

  /** Moves to the next number, even if its frame is missing. */
  #step(): void {
    const next = this.#next ?? 0
    const place = next % windowMax
    const payload = this.#buffer[place] ?? null
    this.#next = next + 1
    if (payload === null) return
    this.#buffer[place] = null
    this.#bufferedCount--
    this.#deliver(payload)
  }
}
