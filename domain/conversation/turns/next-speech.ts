/**
 * Holds the next agent speech that does not answer user speech: an answer to typed text, a first message, a question
 * after silence. If a turn was interrupted, the speech waits until it is known how much of that turn was played. If
 * another speech is requested meanwhile, it replaces the waiting speech.
 *
 *   wanted ──► waits for the settling ──► begun
 *      └─────────────┴──► replaced by a later speech
 */
export type Speech = {
  /** True if the user cannot interrupt the speech, even while it waits. */
  isProtected: boolean
  /** Runs when the speech is due, even if another speech has replaced it. */
  before: () => void
  /** Begins the speech. Not called if another speech has replaced it. */
  begin: () => void
}

export class NextSpeech {
  #requested: Speech | null = null
  #waiting: Speech | null = null

  /** Returns true while a protected speech waits. */
  get isProtected(): boolean {
    return this.#waiting?.isProtected === true
  }

  /** Stores the speech. `take` begins it later, if the turn allows it. */
  want(speech: Speech): void {
    this.#requested = speech
  }

  take(afterwards: (run: () => void) => void): void {
    const speech = this.#requested
    this.#requested = null
    if (speech === null) return
    this.#waiting = speech
    afterwards(() => {
      speech.before()
      if (this.#waiting !== speech) return
      this.#waiting = null
      speech.begin()
    })
  }
}
