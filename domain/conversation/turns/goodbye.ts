/** Ends a conversation in steps with time limits: the sentence under way, the user's last words, and a goodbye. */
import type { Clock } from '../../ports/system.ts'
import { lastMessageMs, lastSentenceMs } from './turn-limits.ts'

/** `text` is null if the agent says nothing. */
type Words = { text: string | null; withinMs: number }

export class Goodbye {
  readonly #clock: Clock
  /** Null if no words are planned, or if they were taken. */
  #words: Words | null = null
  #cancel = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Plans the last words. `isMessage`: they may be long. */
  plan(text: string | null, isMessage: boolean): void {
    this.#words = { text, withinMs: isMessage ? lastMessageMs : lastSentenceMs }
  }

  /** The words are planned and not yet taken. */
  get isAwaited(): boolean {
    return this.#words !== null
  }

  /** Returns the words once. Null if no words are planned, or if they were taken before. */
  take(): Words | null {
    const words = this.#words
    if (words === null) return null
    this.#words = null
    this.cancel()
    return words
  }

  /** Replaces the step that is waiting. */
  after(ms: number, next: () => void): void {
    this.cancel()
    this.#cancel = this.#clock.after(ms, next)
  }

  cancel(): void {
    this.#cancel()
    this.#cancel = () => {}
  }
}
