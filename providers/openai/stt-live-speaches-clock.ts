/**
 * Times of a Speaches session. The server counts from the start of each item, and hears silence that is none of the stream's:
 *
 *   stream  ├── said ──┤             ├── said ──┤
 *   server  ├── said ──┼── silence ──┼── said ──┼── silence ──┤
 *   items   ├──────────────────────┼───────────────────────┤
 */

/** The server looks at the last three seconds, each time that audio comes: all of them have to be silent at once. */
export const silenceMs = 3100

/** More, without a word from the server in between, is nobody who speaks. */
const silencesMax = 64

export class ServerClock {
  readonly #bytesPerMs: number
  #sentBytes = 0
  /** Where silences begin that an item may still lie in front of, and how many others there were. */
  #silencesMs: number[] = []
  #silencesPassed = 0
  #itemId: unknown = null
  #itemStartMs = 0
  #itemEndMs = 0

  constructor(bytesPerMs: number) {
    this.#bytesPerMs = bytesPerMs
  }

  sent(bytes: number): void {
    this.#sentBytes += bytes
  }

  silenced(): void {
    const silences = this.#silencesPassed + this.#silencesMs.length
    this.#silencesMs.push(this.#sentBytes / this.#bytesPerMs + silences * silenceMs)
    if (this.#silencesMs.length > silencesMax) this.#pass()
  }

  /** Milliseconds of the stream. */
  started(id: unknown, itemMs: unknown): number {
    return this.#inStreamMs(this.#inServerMs(id, itemMs))
  }

  /** The same. Told twice of an item, the later one is where the next begins. */
  stopped(id: unknown, itemMs: unknown): number {
    this.#itemEndMs = this.#inServerMs(id, itemMs)
    return this.#inStreamMs(this.#itemEndMs)
  }

  #inServerMs(id: unknown, itemMs: unknown): number {
    if (id !== this.#itemId) {
      this.#itemId = id
      this.#itemStartMs = this.#itemEndMs
      while (this.#silencesMs[0] !== undefined && this.#silencesMs[0] + silenceMs <= this.#itemStartMs) this.#pass()
    }
    return this.#itemStartMs + (typeof itemMs === 'number' && itemMs > 0 ? itemMs : 0)
  }

  #inStreamMs(serverMs: number): number {
    const ours = this.#silencesMs.map((startMs) => Math.min(Math.max(serverMs - startMs, 0), silenceMs))
    // Silences that the server has not come to yet must not put a word before the stream.
    return Math.max(0, Math.round(ours.reduce((sum, ms) => sum - ms, serverMs - this.#silencesPassed * silenceMs)))
  }

  #pass(): void {
    this.#silencesMs.shift()
    this.#silencesPassed++
  }
}
