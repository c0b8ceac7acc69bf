/**
 * The next thing that the agent says without being asked by speech: an answer to a typed text, a first message, a
 * question after a silence. It waits until a turn that was interrupted is settled. One that comes meanwhile takes its
 * place.
 *
 *   wanted ──► waits for the settling ──► begun
 *      └─────────────┴──► replaced by a later one
 */
export type Speech = {
  /** The user cannot interrupt it, also while it waits. */
  isProtected: boolean
  /** Runs in any case, also for one that was replaced. */
  before: () => void
  /** Not called for one that was replaced. */
  begin: () => void
}

export class NextSpeech {
  #wanted: Speech | null = null
  #waiting: Speech | null = null

  /** A protected speech waits. */
  get isProtected(): boolean {
    return this.#waiting?.isProtected === true
  }

  /** It is taken up by `take`, if the turn allows it to be said. */
  want(speech: Speech): void {
    this.#wanted = speech
  }

  take(afterwards: (run: () => void) => void): void {
    const speech = this.#wanted
    this.#wanted = null
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
