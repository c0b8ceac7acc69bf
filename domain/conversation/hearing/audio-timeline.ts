/**
 * Maps the caller's audio to the monotonic clock. A speech engine reports words by their position in the sample stream,
 * often seconds after they were spoken. The stream's start is computed from the audio with the least delay:
 *
 *   clock    ─┬──────────────────────┬───────────┬──────────────────►
 *             │ piece 1              │ not sent  │ piece 2
 *   stream   ─┴──────────────────────┴┬──────────┴──────────────────►
 */
import { lagMs } from './recorder.ts'

/** If audio arrives this much later than real time, it begins a new piece. */
const gapMs = 200
/** Beyond this number, the oldest piece is dropped, because no transcript refers to it any more. */
const piecesMax = 32

/**
 * A piece contains the audio from stream position `fromMs` on. `originMs` is the stream's start on the monotonic clock,
 * as computed from this audio.
 */
type Piece = { fromMs: number; originMs: number }

export class AudioTimeline {
  readonly #pieces: Piece[] = []
  #reachedMs = 0
  /**
   * The earliest start that was computed since the last comparison with the newest piece's start. The comparison was
   * made at `#followedMs`, when the stream had reached the position `#followedFromMs`.
   */
  #leastOriginMs = Number.POSITIVE_INFINITY
  #followedMs = 0
  #followedFromMs = 0

  /** Records that `lengthMs` of audio arrived at `nowMs`. */
  push(lengthMs: number, nowMs: number): void {
    const fromMs = this.#reachedMs
    this.#reachedMs += lengthMs
    this.#follow(nowMs - this.#reachedMs, fromMs, nowMs)
  }

  /** Returns the time at which the caller spoke the audio at this position in the stream. */
  at(streamMs: number): number {
    const piece = this.#pieces.findLast(({ fromMs }) => fromMs <= streamMs) ?? this.#pieces[0]
    return (piece?.originMs ?? 0) + streamMs
  }

  #follow(originMs: number, fromMs: number, nowMs: number): void {
    const piece = this.#pieces.at(-1)
    this.#leastOriginMs = Math.min(this.#leastOriginMs, originMs)
    if (piece === undefined || originMs > piece.originMs + gapMs) this.#begin({ fromMs, originMs })
    else if (originMs < piece.originMs) piece.originMs = originMs
    else if (nowMs - this.#followedMs < lagMs.during) return
    else if (this.#leastOriginMs > piece.originMs + lagMs.max)
      this.#begin({ fromMs: this.#followedFromMs, originMs: this.#leastOriginMs })
    this.#leastOriginMs = Number.POSITIVE_INFINITY
    this.#followedMs = nowMs
    this.#followedFromMs = this.#reachedMs
  }

  #begin(piece: Piece): void {
    this.#pieces.push(piece)
    if (this.#pieces.length > piecesMax) this.#pieces.shift()
  }
}
