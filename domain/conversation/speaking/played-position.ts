/**
 * Tracks how far the client has played a turn. The server sends marks between the audio, and the client returns each
 * mark when the audio before it was played. The position is certain at returned marks and estimated after the last
 * mark. Places are samples in the turn, and times are on the monotonic clock.
 */

/** A mark is sent after each 100 ms of audio. */
export const markMs = 100
/** If a client returns no marks, this time is assumed between sending and playing. */
const assumedDelayMs = 150
/** If a client has returned no mark after this time, it is treated as a client without marks. */
const firstMarkMs = 3000
/** If a turn's last mark is late by more than this, the turn counts as played without it. */
const lateMarkMs = 2000

export class PlayedPosition {
  readonly #samplesPerMs: number
  /** The sample number `#anchorSample` was due for playout at `#anchorMs`. */
  #anchorMs = 0
  #anchorSample = 0
  #startedMs: number | null = null
  /** The last certain playout position. Later positions are estimated from it. */
  #certain = { sample: 0, atMs: 0 }
  #firstPlayedMs: number | null = null
  /** Whether this client returns marks. Null if not known yet. */
  #sendsMarks: boolean | null = null

  constructor(samplesPerMs: number) {
    this.#samplesPerMs = samplesPerMs
  }

  /** Begins a new turn. `#sendsMarks` is kept, because it describes the client and not the turn. */
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

  /** Sets that the sample is due at this time, and that later samples follow it without a gap. */
  anchor(sample: number, atMs: number): void {
    this.#anchorMs = atMs
    this.#anchorSample = sample
  }

  /** Call this when paused speech continues at the anchor. */
  resumed(): void {
    if (this.#certain.sample > 0) this.#certain.atMs = this.#anchorMs + assumedDelayMs
  }

  get isStarted(): boolean {
    return this.#startedMs !== null
  }

  started(nowMs: number): void {
    this.#startedMs = nowMs
  }

  /** Call this when the client has answered a mark or a `clear` message. */
  answered(): void {
    this.#sendsMarks = true
  }

  /**
   * Call this when the whole turn counts as played. If no mark was returned, the client is treated as a client without
   * marks.
   */
  finished(): void {
    if (this.#firstPlayedMs === null) this.#sendsMarks ??= false
  }

  /** Records that the client was playing this sample at this time. */
  played(sample: number, nowMs: number): void {
    this.#firstPlayedMs ??= nowMs - sample / this.#samplesPerMs
  }

  /** Returns the time when the turn's first sample was played. Null if nothing was played yet. */
  get firstPlayedMs(): number | null {
    if (this.#firstPlayedMs !== null) return this.#firstPlayedMs
    return this.#startedMs === null ? null : this.#startedMs + assumedDelayMs
  }

  /** Returns true if the client has returned no marks in this turn, so times and positions are estimates. */
  get isEstimated(): boolean {
    return this.#firstPlayedMs === null
  }

  /** Returns true if the client should have returned the first mark by now, but has not. */
  isUnmarked(nowMs: number): boolean {
    return this.#sendsMarks !== true && this.#startedMs !== null && nowMs - this.#startedMs >= firstMarkMs
  }

  /**
   * Returns the sample that is played now if speech goes on. `sent` is an upper limit, because the client has no more
   * than this.
   */
  at(nowMs: number, sent: number): number {
    if (this.#startedMs === null) return 0
    const { sample, atMs } = this.#certain
    if (sample > 0) {
      const sinceMs = Math.max(0, nowMs - atMs)
      // If the next mark has not been returned, playout has not passed it.
      const passedMs = this.#sendsMarks ? Math.min(sinceMs, markMs) : sinceMs
      return Math.min(sample + passedMs * this.#samplesPerMs, sent)
    }
    const playingMs = nowMs - this.#anchorMs - assumedDelayMs
    return Math.min(Math.max(0, this.#anchorSample + playingMs * this.#samplesPerMs), sent)
  }

  /**
   * Returns the time when the sample was played, calculated from the last returned mark, or from the anchor if no mark
   * was returned.
   */
  endMs(sample: number): number {
    const { sample: certain, atMs } = this.#certain
    if (sample > certain && certain > 0) return atMs + (sample - certain) / this.#samplesPerMs
    return this.assumedEndMs(sample)
  }

  /** Returns the time when the sample was played, calculated from the anchor. */
  assumedEndMs(sample: number): number {
    return this.#dueMs(sample) + assumedDelayMs
  }

  /** Returns the time when a turn with this length counts as played, even without its last mark. */
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
