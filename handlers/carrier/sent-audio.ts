/**
 * The account of the audio that a carrier was sent: how much of it the far end has been played. The carrier returns a
 * mark when the audio before it was played. It returns those behind a `clear` as well, which were not.
 *
 *   played ── anchor ──────── now ──── given
 *              (the last mark that was returned, or the first frame after a pause)
 *
 * Between two marks the carrier plays in real time. Positions count samples since the beginning; after a clear they go on
 * from the position that was played.
 */
import type { Clock } from '../../domain/ports/system.ts'
import type { PlayedEvents } from '../session/agent-audio.ts'

type Mark = { name: string; number: number; at: number }

/** A carrier that never returns a mark has this many kept: more than ten seconds of speech. */
const marksMax = 128

export class SentAudio {
  readonly #clock: Clock
  readonly #samplesPerMs: number
  readonly #events: PlayedEvents
  /** Those that were not returned, the oldest first. */
  #marks: Mark[] = []
  #marksCount = 0
  #lastMark: Mark | null = null
  #given = 0
  /** When the carrier will have played all that it was given. */
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

  /** Answers the name for the carrier. The same name of the conversation may come again, and a mark that a clear has returned late would be taken for it. */
  mark(name: string): string {
    this.#marksCount++
    this.#marks.push({ name, number: this.#marksCount, at: this.#given })
    if (this.#marks.length > marksMax) this.#marks.shift()
    return String(this.#marksCount)
  }

  /** The carrier has returned a mark. The frames before it may have been lost or come late, so it stands for earlier marks too. */
  returned(name: string): void {
    const index = this.#marks.findIndex(({ number }) => String(number) === name)
    const mark = this.#marks[index]
    if (mark === undefined) return
    this.#marks.splice(0, index + 1)
    this.#lastMark = mark
    this.#anchor(mark.at, this.#clock.monotonicMs())
    this.#events.played(mark.name)
  }

  /** The carrier drops the audio that it has not played. It plays on while the command is on its way, and no answer of it says how far. */
  cleared(): void {
    const nowMs = this.#clock.monotonicMs()
    const played = this.#playedAt(nowMs)
    for (const mark of this.#marks) if (mark.at <= played) this.#lastMark = mark
    this.#marks = []
    this.#given = played
    this.#playedMs = nowMs
    const { name = null, at = 0 } = this.#lastMark ?? {}
    const sinceMs = Math.round((played - at) / this.#samplesPerMs)
    // The conversation is not called from inside its call.
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
