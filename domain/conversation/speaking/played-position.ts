/**
 * How far the client has played a turn: certain at the marks that come back, estimated after the last one. Places are samples
 * of the turn, times are on the monotonic clock.
 */

/** A mark is sent after this much audio. */
export const markMs = 100
/** The time from sending to playing that is assumed of a client that sends no marks back. */
const assumedDelayMs = 150
/** A client that has sent no mark back by then sends none. */
const firstMarkMs = 3000
/** The last mark of a turn may come this much after the moment at which it was due. */
const lateMarkMs = 2000

export class PlayedPosition {
  readonly #samplesPerMs: number
  /** The sample at `#anchorSample` was due to be played at `#anchorMs`. */
  #anchorMs = 0
  #anchorSample = 0
  #startedMs: number | null = null
  /** The last position that is certain. */
  #certain = { sample: 0, atMs: 0 }
  #firstPlayedMs: number | null = null
  /** Whether this client sends marks back. Null: not known yet. */
  #sendsMarks: boolean | null = null

  constructor(samplesPerMs: number) {
    this.#samplesPerMs = samplesPerMs
  }

  /** Another turn begins. Whether the client sends marks is remembered. */
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

  /** The sample is due to be played at this time, and those after it follow. */
  anchor(sample: number, atMs: number): void {
    this.#anchorMs = atMs
    this.#anchorSample = sample
  }

  /** Speech that was held goes on at the anchor. */
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

  /** The client was at the sample at this moment. */
  played(sample: number, nowMs: number): void {
    this.#firstPlayedMs ??= nowMs - sample / this.#samplesPerMs
  }

  /** Null: nothing was played yet. */
  get firstPlayedMs(): number | null {
    if (this.#firstPlayedMs !== null) return this.#firstPlayedMs
    return this.#startedMs === null ? null : this.#startedMs + assumedDelayMs
  }

  /** The client has sent no marks for this turn, so times and positions are estimates. */
  get isEstimated(): boolean {
    return this.#firstPlayedMs === null
  }

  /** No mark has come in the time in which a client that sends marks would have sent the first one. */
  isUnmarked(nowMs: number): boolean {
    return this.#sendsMarks !== true && this.#startedMs !== null && nowMs - this.#startedMs >= firstMarkMs
  }

  /** The sample that is played now while the speech goes on. `sent`: the client has no more than this. */
  at(nowMs: number, sent: number): number {
    if (this.#startedMs === null) return 0
    const { sample, atMs } = this.#certain
    if (sample > 0) {
      const sinceMs = Math.max(0, nowMs - atMs)
      // The next mark has not come back, so it was not passed.
      const passedMs = this.#sendsMarks ? Math.min(sinceMs, markMs) : sinceMs
      return Math.min(sample + passedMs * this.#samplesPerMs, sent)
    }
    const playingMs = nowMs - this.#anchorMs - assumedDelayMs
    return Math.min(Math.max(0, this.#anchorSample + playingMs * this.#samplesPerMs), sent)
  }

  /** When the speech up to the sample was played: by the clock of the last mark, if one came, else by the anchor. */
  endMs(sample: number): number {
    const { sample: certain, atMs } = this.#certain
    if (sample > certain && certain > 0) return atMs + (sample - certain) / this.#samplesPerMs
    return this.assumedEndMs(sample)
  }

  /** When the speech up to the sample was played, by the anchor. */
  assumedEndMs(sample: number): number {
    return this.#dueMs(sample) + assumedDelayMs
  }

  /** When a turn of this length counts as played although its last mark has not come back. */
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
