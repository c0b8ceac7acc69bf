/**
 * Holds the next agent speech that does not answer user speech: an answer to typed text, a first message, a question
 * after silence. It waits until an interrupted turn is settled. If another speech comes meanwhile, it replaces the
 * first.
 *
 *   wanted ──► waits for the settling ──► begun
 *      └─────────────┴──► replaced by a later speech
 */
export type Speech = {
  /** The user cannot interrupt it, even while it waits. */
  isProtected: boolean
  /** Always runs, even if the speech is replaced. */
  before: () => void
  /** Not called if the speech is replaced. */
  begin: () => void
}

export class NextSpeech {
  #requested: Speech | null = null
  #waiting: Speech | null = null

  /** True while a protected speech waits. */
  get isProtected(): boolean {
    return this.#waiting?.isProtected === true
  }

  /** Stores the speech. `take` begins it if the turn allows it. */
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
