/**
 * Tracks how much of the sent audio the carrier has played. The carrier returns a mark when the audio before it was
 * played. After a `clear` it also returns the remaining marks, although their audio was not played.
 *
 *   played ── anchor ──────── now ──── given
 *
 * `given` is the end of all audio sent so far. The anchor is the last known position: a returned mark, or the start of
 * audio after a pause. From there on the carrier plays in real time. Positions count samples from the beginning. After
 * a clear they continue from the played position.
 */
import type { Clock } from '../../domain/ports/system.ts'
import type { PlayedEvents } from '../session/agent-audio.ts'

type Mark = { name: string; number: number; at: number }

/**
 * The maximum number of marks to keep. They cover more than ten seconds of speech. A carrier that never returns marks
 * reaches this limit.
 */
const marksMax = 128

export class SentAudio {
  readonly #clock: Clock
  readonly #samplesPerMs: number
  readonly #events: PlayedEvents
  /** The marks that the carrier has not returned yet, oldest first. */
  #marks: Mark[] = []
  #marksCount = 0
  #lastMark: Mark | null = null
  #given = 0
  /** The time at which the carrier will have played all sent audio. */
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
   * Records a mark and returns its name at the carrier, which is a number. The conversation may use a name twice, so a
   * mark returned late after a `clear` command could be mistaken for a new mark.
   */
  mark(name: string): string {
    this.#marksCount++
    this.#marks.push({ name, number: this.#marksCount, at: this.#given })
    if (this.#marks.length > marksMax) this.#marks.shift()
    return String(this.#marksCount)
  }

  /** Handles a mark returned by the carrier. Earlier marks may be lost or late, so this mark counts for them too. */
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
   * Handles a `clear` command sent to the carrier, which drops the audio that it has not played. The carrier plays on
   * until the command arrives, and does not report how far, so the position is estimated.
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
    // The event is raised a moment later, because the conversation is still inside its call to `clear`.
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
