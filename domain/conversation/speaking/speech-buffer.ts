/**
 * Holds the speech in one agent turn, as samples from the turn's start. Samples are kept for a while after reading. If
 * the user's speech turns out to be no interruption, the agent continues at the pause.
 *
 *   0 ········ dropped ········ kept │ read position │ waiting ········ length
 */
export class SpeechBuffer {
  readonly #chunks: Int16Array[] = []
  /** The sample at which the first kept chunk begins. */
  #start = 0
  #length = 0
  #playedTo = 0
  #position = 0
  /** The index of the chunk at the read position, and the sample at which it begins. */
  #chunk = 0
  #chunkStart = 0

  /** Returns how many samples were pushed in total. */
  get length(): number {
    return this.#length
  }

  get position(): number {
    return this.#position
  }

  get waiting(): number {
    return this.#length - this.#position
  }

  /** Adds samples. They are not copied, so the calling code must not change them any more. */
  push(samples: Int16Array): void {
    if (samples.length === 0) return
    this.#chunks.push(samples)
    this.#length += samples.length
  }

  /** Fills `frame` from the read position and moves on. Missing samples become silence. */
  read(frame: Int16Array): void {
    let filled = 0
    while (filled < frame.length && this.waiting > 0) {
      const chunk = this.#chunks[this.#chunk]
      if (chunk === undefined) break
      const from = this.#position - this.#chunkStart
      const part = chunk.subarray(from, from + Math.min(frame.length - filled, this.waiting))
      frame.set(part, filled)
      filled += part.length
      this.#position += part.length
      if (from + part.length === chunk.length) {
        this.#chunkStart += chunk.length
        this.#chunk += 1
      }
    }
    if (filled < frame.length) frame.fill(0, filled)
  }

  /** Returns the samples up to `to` since this method was last called, or null if there are no new samples. */
  takePlayed(to: number): Int16Array | null {
    const from = this.#playedTo
    if (to <= from) return null
    this.#playedTo = to
    const samples = new Int16Array(to - from)
    let start = this.#start
    for (const chunk of this.#chunks) {
      if (start >= to) break
      const part = chunk.subarray(Math.max(0, from - start), Math.max(0, to - start))
      if (part.length > 0) samples.set(part, Math.max(0, start - from))
      start += chunk.length
    }
    return samples
  }

  /** Continues reading at `position`, or at the first kept sample. */
  seek(position: number): void {
    this.#position = Math.min(Math.max(position, this.#start), this.#length)
    this.#chunk = 0
    this.#chunkStart = this.#start
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[this.#chunk]) {
      if (this.#position < this.#chunkStart + chunk.length) return
      this.#chunkStart += chunk.length
      this.#chunk += 1
    }
  }

  /** Forgets samples from `end` on. Samples already read stay. */
  cut(end: number): void {
    this.#length = Math.min(this.#length, Math.max(end, this.#position))
  }

  /** Forgets samples before `position` if they were read. */
  dropBefore(position: number): void {
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      if (this.#chunk === 0 || this.#start + chunk.length > position) return
      this.#chunks.shift()
      this.#start += chunk.length
      this.#chunk -= 1
    }
  }
}

/** Sent samples are kept for this long, because they may have to be sent again. */
export const retentionMs = 3000
/**
 * If more speech than this waits for playout, a voice that is faster than real time is paused. The voice continues when
 * less than `waitingMinMs` waits.
 */
export const waitingMaxMs = 10_000
export const waitingMinMs = 5000
