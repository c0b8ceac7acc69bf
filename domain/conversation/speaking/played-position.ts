/**
 * Tracks how far the client has played a turn. The position is certain at returned marks and estimated after the last
 * mark. Places are samples in the turn, and times are on the monotonic clock.
 */

/** A mark is sent each time this much audio was sent. */
export const markMs = 100
/** If a client returns no marks, this time is assumed from sending to playing. */
const assumedDelayMs = 150
/** If a client has returned no mark by then, it returns no marks at all. */
const firstMarkMs = 3000
/** A turn's last mark may be late by this much. */
const lateMarkMs = 2000

export class PlayedPosition {
  readonly #samplesPerMs: number
  /** The sample at `#anchorSample` was due at `#anchorMs`. */
  #anchorMs = 0
  #anchorSample = 0
  #startedMs: number | null = null
  /** The last certain position. */
  #certain = { sample: 0, atMs: 0 }
  #firstPlayedMs: number | null = null
  /** Whether this client returns marks. Null if not known yet. */
  #sendsMarks: boolean | null = null

  constructor(samplesPerMs: number) {
    this.#samplesPerMs = samplesPerMs
  }

  /** Another turn begins. The knowledge about the client's marks stays. */
  begin(): void {
    this.#startedMs = this.#firstPlayedMs = null
    this.#certain = { sample: 0, atMs: 0 }
  }

  get certain(): { sample: number; atMs: number } {
    return this.#certain
  }

  setCertain(sample: number, atMs: number): void {
    this.#certain = { sample, atMs }
  }

  /** The sample is due at this time, and later samples follow it. */
  anchor(sample: number, atMs: number): void {
    this.#anchorMs = atMs
    this.#anchorSample = sample
  }

  /** Held speech goes on at the anchor. */
  resumed(): void {
    if (this.#certain.sample > 0) this.#certain.atMs = this.#anchorMs + assumedDelayMs
  }

  get isStarted(): boolean {
    return this.#startedMs !== null
  }

  started(nowMs: number): void {
    this.#startedMs = nowMs
  }

  /** The client has answered a mark or a clear. */
  answered(): void {
    this.#sendsMarks = true
  }

  /** The whole turn counts as played. */
  finished(): void {
    if (this.#firstPlayedMs === null) this.#sendsMarks ??= false
  }

  /** The client was at this sample at this time. */
  played(sample: number, nowMs: number): void {
    this.#firstPlayedMs ??= nowMs - sample / this.#samplesPerMs
  }

  /** Null if nothing was played yet. */
  get firstPlayedMs(): number | null {
    if (this.#firstPlayedMs !== null) return this.#firstPlayedMs
    return this.#startedMs === null ? null : this.#startedMs + assumedDelayMs
  }

  /** True if the client has returned no marks in this turn, so times and positions are estimates. */
  get isEstimated(): boolean {
    return this.#firstPlayedMs === null
  }

  /** True if the first mark would have come by now, but has not. */
  isUnmarked(nowMs: number): boolean {
    return this.#sendsMarks !== true && this.#startedMs !== null && nowMs - this.#startedMs >= firstMarkMs
  }

  /**
   * The sample that is played now if speech goes on. `sent` is an upper limit, because the client has no more than
   * this.
   */
  at(nowMs: number, sent: number): number {
    if (this.#startedMs === null) return 0
    const { sample, atMs } = this.#certain
    if (sample > 0) {
      const sinceMs = Math.max(0, nowMs - atMs)
      // The next mark has not come back, so playout has not passed it.
      const passedMs = this.#sendsMarks ? Math.min(sinceMs, markMs) : sinceMs
      return Math.min(sample + passedMs * this.#samplesPerMs, sent)
    }
    const playingMs = nowMs - this.#anchorMs - assumedDelayMs
    return Math.min(Math.max(0, this.#anchorSample + playingMs * this.#samplesPerMs), sent)
  }

  /** When the speech up to the sample was played: from the last mark's time if a mark came, else from the anchor. */
  endMs(sample: number): number {
    const { sample: certain, atMs } = this.#certain
    if (sample > certain && certain > 0) return atMs + (sample - certain) / this.#samplesPerMs
    return this.assumedEndMs(sample)
  }

  /** When the speech up to the sample was played, by the anchor. */
  assumedEndMs(sample: number): number {
    return this.#dueMs(sample) + assumedDelayMs
  }

  /** After this time a turn with this length counts as played, even if its last mark has not come back. */
  finishDueMs(length: number): number {
    const endMs = this.#dueMs(length)
    if (this.#sendsMarks === true) return endMs + lateMarkMs
    if (this.#sendsMarks === false) return endMs + assumedDelayMs
    return Math.max((this.#startedMs ?? 0) + firstMarkMs, endMs + assumedDelayMs)
  }

  #dueMs(sample: number): number {
    return this.#anchorMs + (sample - this.#anchorSample) / this.#samplesPerMs
  }
}
