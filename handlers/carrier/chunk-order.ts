/**
 * Puts a stream's frames in the order of their numbers. A missing frame is skipped if a frame with a number higher by
 * `windowMax` or more arrives. Each frame contains 20 ms of audio. No timer is needed, because a stream never pauses.
 */

/** While a frame is missing, at most this many later frames are held: 80 ms of audio. */
const windowMax = 4
/**
 * If a frame's number differs from the expected number by more than this, the sequence restarts at the frame's number.
 * A stream has 50 frames a second.
 */
const lateMax = 500

export class ChunkOrder {
  readonly #deliver: (payload: string) => void
  /** The held payloads, by frame number modulo `windowMax`. */
  readonly #buffer: (string | null)[] = new Array<string | null>(windowMax).fill(null)
  #bufferedCount = 0
  /** The next frame's number. Null before the first frame. */
  #next: number | null = null

  /** `deliver` receives the payloads in order. */
  constructor(deliver: (payload: string) => void) {
    this.#deliver = deliver
  }

  push(chunk: number, payload: string): void {
    const next = this.#next ?? chunk
    if (chunk < next - lateMax || chunk > next + lateMax) return this.#restart(chunk, payload)
    // The frame is too late, because a later frame was delivered already.
    if (chunk < next) return
    this.#next = next
    while (chunk - this.#next >= windowMax) this.#step()
    const place = chunk % windowMax
    if (this.#buffer[place] === null) this.#bufferedCount++
    this.#buffer[place] = payload
    while (this.#bufferedCount > 0 && this.#buffer[this.#next % windowMax] !== null) this.#step()
  }

  /** Delivers all held frames at the stream's end, because missing frames will not come. */
  flush(): void {
    while (this.#bufferedCount > 0) this.#step()
  }

  #restart(chunk: number, payload: string): void {
    this.flush()
    this.#next = chunk + 1
    this.#deliver(payload)
  }

  /** Moves on to the next number, even if its frame is missing. */
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
