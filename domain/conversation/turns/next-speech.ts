/**
 * Holds the agent's next speech: an answer, a first message, a question after silence. If a turn was interrupted, the
 * speech waits until it is known how much of that turn was played. If another speech is requested meanwhile, it
 * replaces the waiting speech, so only one speech begins. While a sound from the user pauses the agent, the speech goes
 * on waiting.
 *
 *   wanted ──► waits for the settling ──► due ──► begun
 *      └─────────────┴─────────────────────┴──► replaced by a later speech, or dropped
 */
export type Speech = {
  /** True if the user cannot interrupt the speech, even while it waits. */
  isProtected: boolean
  /** True if the speech answers the words that the user has spoken. */
  answersWords: boolean
  /** Runs when the speech is due, even if another speech has replaced it. */
  due: () => void
  begin: () => void
}

export class NextSpeech {
  #requested: Speech | null = null
  #waiting: Speech | null = null
  #isDue = false

  /** Returns true while a protected speech waits. */
  get isProtected(): boolean {
    return this.#waiting?.isProtected === true
  }

  /** Returns true while an answer to spoken words waits. */
  get answersWords(): boolean {
    return this.#waiting?.answersWords === true
  }

  /** Stores the speech. `take` begins it later, if the turn allows it. */
  want(speech: Speech): void {
    this.#requested = speech
  }

  /** Calls `ready` when the speech is due, unless another speech has replaced it. */
  take(afterwards: (run: () => void) => void, ready: () => void): void {
    const speech = this.#requested
    this.#requested = null
    if (speech === null) return
    this.#waiting = speech
    this.#isDue = false
    afterwards(() => {
      speech.due()
      if (this.#waiting !== speech) return
      this.#isDue = true
      ready()
    })
  }

  /** Begins the speech if it is due. */
  begin(): void {
    const speech = this.#waiting
    if (!this.#isDue) return
    this.drop()
    speech?.begin()
  }

  /** Drops the speech if it is due, because the user speaks. */
  drop(): void {
    if (!this.#isDue) return
    this.#waiting = null
    this.#isDue = false
  }
}
