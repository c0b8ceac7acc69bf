/**
 * Maps the caller's audio to the monotonic clock. A speech engine's answer gives a place in the sample stream, and may
 * come seconds after it. Audio without delay shows when the stream began:
 *
 *   clock    ─┬──────────────────────┬───────────┬──────────────────►
 *             │ piece 1              │ not sent  │ piece 2
 *   stream   ─┴──────────────────────┴┬──────────┴──────────────────►
 */
import { lagMs } from './recorder.ts'

/** If audio comes this much later than real time, it begins a new piece. */
const gapMs = 200
/** Older pieces are dropped, because no answer refers to them any more. */
const piecesMax = 32

/** `originMs` is the stream's start time, as computed from the piece's audio. */
type Piece = { fromMs: number; originMs: number }

export class AudioTimeline {
  readonly #pieces: Piece[] = []
  #reachedMs = 0
  /** The least origin since `#followedMs`. `#followedFromMs` is the place in the stream where this audio begins. */
  #leastOriginMs = Number.POSITIVE_INFINITY
  #followedMs = 0
  #followedFromMs = 0

  /** Reports that `lengthMs` of audio has come. */
  push(lengthMs: number, nowMs: number): void {
    const fromMs = this.#reachedMs
    this.#reachedMs += lengthMs
    this.#follow(nowMs - this.#reachedMs, fromMs, nowMs)
  }

  /** The time at which the caller said the audio at this place. */
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
