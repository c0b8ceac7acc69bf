/**
 * Queues a leg's outgoing audio until it is sent to the remote party, with marks. A mark is due when all audio before
 * the mark was sent.
 *
 *   chunk chunk ┊mark chunk ┊mark
 *   ▲ taken frame by frame
 */
type Mark = { name: string; position: number }

/** The queue's limit: two minutes in L16 at 16 kHz. */
const bytesMax = 120 * 32_000
const marksMax = 1000

export class Playout {
  #chunks: Uint8Array[] = []
  /** The next byte's index in the first chunk. */
  #offset = 0
  #marks: Mark[] = []
  /** The number of bytes sent or dropped since the beginning. */
  #played = 0
  #queued = 0

  /** Adds a chunk. Returns false without adding it if the queue is full. */
  add(chunk: Uint8Array): boolean {
    if (this.#queued - this.#played + chunk.length > bytesMax) return false
    this.#chunks.push(chunk)
    this.#queued += chunk.length
    return true
  }

  /** Adds a mark. If no audio waits before the mark, the mark is due at once. Returns false if too many marks wait. */
  mark(name: string): boolean {
    if (this.#marks.length >= marksMax) return false
    this.#marks.push({ name, position: this.#queued })
    return true
  }

  /** Drops the waiting audio. Its marks are due at once. */
  clear(): void {
    this.#chunks = []
    this.#offset = 0
    this.#played = this.#queued
  }

  /** Fills `frame` from its beginning and returns the number of bytes written. */
  take(frame: Uint8Array): number {
    let filled = 0
    while (filled < frame.length) {
      const chunk = this.#chunks[0]
      if (!chunk) break
      const count = Math.min(chunk.length - this.#offset, frame.length - filled)
      frame.set(chunk.subarray(this.#offset, this.#offset + count), filled)
      filled += count
      this.#offset += count
      if (this.#offset < chunk.length) break
      this.#chunks.shift()
      this.#offset = 0
    }
    this.#played += filled
    return filled
  }

  /** Returns the next mark whose audio was sent or dropped, each mark once. Returns null if there is no such mark. */
  due(): string | null {
    const mark = this.#marks[0]
    if (!mark || mark.position > this.#played) return null
    this.#marks.shift()
    return mark.name
  }
}
