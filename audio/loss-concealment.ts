/**
 * Fills gaps from lost packets (a method much simpler than ITU-T G.711 appendix I): repeats the last 20 ms and fades to
 * silence within 60 ms, because a longer repeat sounds like a tone.
 */
const memory = 160
const fadeSamples = 480

export class LossConcealment {
  /** The last received samples, as a ring buffer. */
  readonly #last = new Int16Array(memory)
  #at = 0
  /** How many samples were filled in since the last received sample. */
  #filled = fadeSamples

  remember(sample: number): void {
    this.#last[this.#at] = sample
    this.#at = (this.#at + 1) % memory
    this.#filled = 0
  }

  next(): number {
    if (this.#filled >= fadeSamples) return 0
    const sample = this.#last[(this.#at + this.#filled) % memory] ?? 0
    this.#filled++
    return Math.round(sample * (1 - this.#filled / fadeSamples))
  }
}
