/**
 * Ends a conversation in steps with time limits: the current sentence, the user's last words, and the agent's goodbye.
 */
import type { Clock } from '../../ports/system.ts'
import { lastMessageMs, lastSentenceMs } from './turn-limits.ts'

/** The agent's last words, and how long they may take. `text` is null if the agent says nothing. */
type Words = { text: string | null; withinMs: number }

export class Goodbye {
  readonly #clock: Clock
  /** The planned words. Null if there is no plan, or after `take`. */
  #words: Words | null = null
  #cancel = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Plans the last words. `isMessage` allows more time, because a message may be long. */
  plan(text: string | null, isMessage: boolean): void {
    this.#words = { text, withinMs: isMessage ? lastMessageMs : lastSentenceMs }
  }

  /** Returns true if words are planned and `take` has not returned them yet. */
  get isAwaited(): boolean {
    return this.#words !== null
  }

  /** Returns the planned words once. Later calls return null. */
  take(): Words | null {
    const words = this.#words
    if (words === null) return null
    this.#words = null
    this.cancel()
    return words
  }

  /** Runs `next` after `ms`. A step that still waits is cancelled. */
  after(ms: number, next: () => void): void {
    this.cancel()
    this.#cancel = this.#clock.after(ms, next)
  }

  cancel(): void {
    this.#cancel()
    this.#cancel = () => {}
  }
}
