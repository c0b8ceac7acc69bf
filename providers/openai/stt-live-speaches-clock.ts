/**
 * Converts times in a Speaches session. The server counts from each item's start, and its audio includes silence added
 * by us, not in the client's stream:
 *
 *   stream  ├─ speech ─┤             ├─ speech ─┤
 *   server  ├─ speech ─┼── silence ──┼─ speech ─┼── silence ──┤
 *   items   ├──────────────────────┼───────────────────────┤
 */

/**
 * The silence sent for a flush. Whenever audio arrives, the server examines the last three seconds and ends an
 * utterance only if all three are silent.
 */
export const silenceMs = 3100

/**
 * The maximum number of remembered silences. If more are sent without any server event between them, there is no
 * speech.
 */
const silencesMax = 64

export class ServerClock {
  readonly #bytesPerMs: number
  #sentBytes = 0
  /** The start times of silences possibly still within an item. */
  #silencesMs: number[] = []
  /** The number of earlier silences, too old to be within an item. */
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

  /** Returns the speech's start, in milliseconds from the stream's start. */
  started(id: unknown, itemMs: unknown): number {
    return this.#inStreamMs(this.#inServerMs(id, itemMs))
  }

  /**
   * Returns the speech's end, in milliseconds from the stream's start. If the server reports two ends for an item, the
   * next item begins at the later end.
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
    // The result is at least 0: silences not yet reached by the server must not move a word before the stream's start.
    return Math.max(0, Math.round(ours.reduce((sum, ms) => sum - ms, serverMs - this.#silencesPassed * silenceMs)))
  }

  #pass(): void {
    this.#silencesMs.shift()
    this.#silencesPassed++
  }
}
