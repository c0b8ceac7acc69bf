/** The end of a conversation: the sentence under way, the last words of the user, and a goodbye, each within its time. */
import type { Clock } from '../../ports/system.ts'
import { lastMessageMs, lastSentenceMs } from './turn-limits.ts'

/** `text` is null if the agent says nothing. */
type Words = { text: string | null; withinMs: number }

export class Goodbye {
  readonly #clock: Clock
  /** Null: no words are planned, or they were taken. */
  #words: Words | null = null
  #cancel = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The conversation ends with these words. `isMessage`: they may be long. */
  plan(text: string | null, isMessage: boolean): void {
    this.#words = { text, withinMs: isMessage ? lastMessageMs : lastSentenceMs }
  }

  /** The words are planned, and nobody has begun to say them. */
  get isAwaited(): boolean {
    return this.#words !== null
  }

  /** The words, once. Null: no words are planned, or they were taken before. */
  take(): Words | null {
    const words = this.#words
    if (words === null) return null
    this.#words = null
    this.cancel()
    return words
  }

  /** Replaces the step that was waited for. */
  after(ms: number, next: () => void): void {
    this.cancel()
    this.#cancel = this.#clock.after(ms, next)
  }

  cancel(): void {
    this.#cancel()
    this.#cancel = () => {}
  }
}
