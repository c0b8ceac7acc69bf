/**
 * Where the caller's audio lies on the monotonic clock. Answers of engines name a place in the stream of samples, and may
 * come seconds after it. Audio that came without delay says when the stream began:
 *
 *   clock    ─┬──────────────────────┬───────────┬──────────────────►
 *             │ piece 1              │ not sent  │ piece 2
 *   stream   ─┴──────────────────────┴┬──────────┴──────────────────►
 */
import { lagMs } from './recorder.ts'

/** Audio that comes this much later than real time begins a new piece. */
const gapMs = 200
/** The places of older pieces are asked for no more. */
const piecesMax = 32

/** `originMs` is when the first sample of the stream would have come, had all audio come like that of the piece. */
type Piece = { fromMs: number; originMs: number }

export class AudioTimeline {
  readonly #pieces: Piece[] = []
  #reachedMs = 0
  /** The least origin that the audio since `#followedMs` gives, and where in the stream that audio begins. */
  #leastOriginMs = Number.POSITIVE_INFINITY
  #followedMs = 0
  #followedFromMs = 0

  /** `lengthMs` of audio has come. */
  push(lengthMs: number, nowMs: number): void {
    const fromMs = this.#reachedMs
    this.#reachedMs += lengthMs
    this.#follow(nowMs - this.#reachedMs, fromMs, nowMs)
  }

  /** The time at which this place of the stream was said. */
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
