/**
 * Puts the frames of a stream in the order of their numbers. A frame that is missing is waited for until
 * `windowMax` later ones have come, at 20 ms each; then it is given up. No timer is needed, because a stream never pauses.
 */

/** Frames that wait for an earlier one: 80 ms. */
const windowMax = 4
/** A number that is further back than this is the first one of a new count. A stream has 50 frames a second. */
const lateMax = 500

export class ChunkOrder {
  readonly #deliver: (payload: string) => void
  /** By the number modulo `windowMax`. */
  readonly #held: (string | null)[] = new Array<string | null>(windowMax).fill(null)
  #heldCount = 0
  /** The number of the next frame. Null: none has come. */
  #next: number | null = null

  /** `deliver` is called with each payload in its turn. */
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
    if (this.#held[place] === null) this.#heldCount++
    this.#held[place] = payload
    while (this.#heldCount > 0 && this.#held[this.#next % windowMax] !== null) this.#step()
  }

  /** The stream is over: nothing that is missing will come. */
  flush(): void {
    while (this.#heldCount > 0) this.#step()
  }

  #restart(chunk: number, payload: string): void {
    this.flush()
    this.#next = chunk + 1
    this.#deliver(payload)
  }

  /** Goes on to the next number, whether its frame has come or not. */
  #step(): void {
    const next = this.#next ?? 0
    const place = next % windowMax
    const payload = this.#held[place] ?? null
    this.#next = next + 1
    if (payload === null) return
    this.#held[place] = null
    this.#heldCount--
    this.#deliver(payload)
  }
}
