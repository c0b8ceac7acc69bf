/**
 * Times in a Speaches session. The server counts from each item's start, and its audio includes our silence, which is
 * not in the stream:
 *
 *   stream  ├─ speech ─┤             ├─ speech ─┤
 *   server  ├─ speech ─┼── silence ──┼─ speech ─┼── silence ──┤
 *   items   ├──────────────────────┼───────────────────────┤
 */

/**
 * Whenever audio comes, the server looks at the last three seconds. It ends an utterance only if all three are silent.
 */
export const silenceMs = 3100

/** The maximum for remembered silences. If more come without a server event between them, there is no speech. */
const silencesMax = 64

export class ServerClock {
  readonly #bytesPerMs: number
  #sentBytes = 0
  /** The starts of silences that may still lie in an item. */
  #silencesMs: number[] = []
  /** The number of earlier silences. They can no longer lie in an item. */
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

  /** Returns a speech's start as milliseconds in the stream. */
  started(id: unknown, itemMs: unknown): number {
    return this.#inStreamMs(this.#inServerMs(id, itemMs))
  }

  /**
   * Returns a speech's end as milliseconds in the stream. If the server reports two ends for an item, the next item
   * begins at the later end.
   */
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
    // Silences beyond the server's position must not move a word before the stream's start.
    return Math.max(0, Math.round(ours.reduce((sum, ms) => sum - ms, serverMs - this.#silencesPassed * silenceMs)))
  }

  #pass(): void {
    this.#silencesMs.shift()
    this.#silencesPassed++
  }
}
