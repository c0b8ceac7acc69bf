/**
 * Tracks how much sent audio the far end has played. The carrier returns a mark when the audio before it was played.
 * After a `clear` it also returns the remaining marks, although their audio was not played.
 *
 *   played ── anchor ──────── now ──── given
 * Between two marks the carrier plays in real time. Positions count samples from the beginning. After a clear they
 * continue from the played position.
 */
import type { Clock } from '../../domain/ports/system.ts'
import type { PlayedEvents } from '../session/agent-audio.ts'

type Mark = { name: string; number: number; at: number }

/** Maximum kept marks, reached if a carrier never returns them: more than ten seconds of speech. */
const marksMax = 128

export class SentAudio {
  readonly #clock: Clock
  readonly #samplesPerMs: number
  readonly #events: PlayedEvents
  /** Marks not returned yet, oldest first. */
  #marks: Mark[] = []
  #marksCount = 0
  #lastMark: Mark | null = null
  #given = 0
  /** When the carrier will have played all given audio. */
  #playedMs = 0
  #anchorAt = 0
  #anchorMs = 0

  constructor(clock: Clock, sampleRateHz: number, events: PlayedEvents) {
    this.#clock = clock
    this.#samplesPerMs = sampleRateHz / 1000
    this.#events = events
  }

  frame(samplesCount: number): void {
    const nowMs = this.#clock.monotonicMs()
    if (this.#playedMs <= nowMs) {
      this.#playedMs = nowMs
      this.#anchor(this.#given, nowMs)
    }
    this.#playedMs += samplesCount / this.#samplesPerMs
    this.#given += samplesCount
  }

  /**
   * Answers the mark's name at the carrier. The conversation may use a name twice, so a mark returned late after a
   * clear could be mistaken for the new one.
   */
  mark(name: string): string {
    this.#marksCount++
    this.#marks.push({ name, number: this.#marksCount, at: this.#given })
    if (this.#marks.length > marksMax) this.#marks.shift()
    return String(this.#marksCount)
  }

  /** The carrier has returned a mark. Earlier marks may be lost or late, so this mark counts for them too. */
  returned(name: string): void {
    const index = this.#marks.findIndex(({ number }) => String(number) === name)
    const mark = this.#marks[index]
    if (mark === undefined) return
    this.#marks.splice(0, index + 1)
    this.#lastMark = mark
    this.#anchor(mark.at, this.#clock.monotonicMs())
    this.#events.played(mark.name)
  }

  /**
   * The carrier drops audio it has not played. It plays on until the command arrives, and its answer does not say how
   * far, so the position is estimated.
   */
  cleared(): void {
    const nowMs = this.#clock.monotonicMs()
    const played = this.#playedAt(nowMs)
    for (const mark of this.#marks) if (mark.at <= played) this.#lastMark = mark
    this.#marks = []
    this.#given = played
    this.#playedMs = nowMs
    const { name = null, at = 0 } = this.#lastMark ?? {}
    const sinceMs = Math.round((played - at) / this.#samplesPerMs)
    // The conversation must not be called back from inside its own call.
    queueMicrotask(() => this.#events.cleared(name, sinceMs))
  }

  #playedAt(nowMs: number): number {
    const since = Math.max(0, nowMs - this.#anchorMs) * this.#samplesPerMs
    return Math.min(this.#given, Math.round(this.#anchorAt + since))
  }

  #anchor(at: number, nowMs: number): void {
    this.#anchorAt = at
    this.#anchorMs = nowMs
  }
}
