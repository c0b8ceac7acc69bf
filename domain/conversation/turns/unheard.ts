/**
 * The words of the agent after speech of which no word was understood, so that nobody waits in silence: its greeting if
 * nothing was said before, else it asks to hear that again, once until words are understood.
 */
import type { Pipeline } from '../../records/pipeline.ts'
import type { History } from './history.ts'
import { greetingHint } from './session-timers.ts'

/** Shorter sounds are coughs and doors. */
const spokenMsMin = 400
/** The LLM reads it as words of the user. */
export const unheardHint =
  '[The caller has said something, and no word of it was understood. Ask them in one short sentence to say it again.]'

export class Unheard {
  readonly #pipeline: Pick<Pipeline, 'firstMessage'>
  /** The turns of the user at the last question. */
  #askedAt: number | null = null

  constructor(pipeline: Pick<Pipeline, 'firstMessage'>) {
    this.#pipeline = pipeline
  }

  /** Calls `say` if something is to be said. A null `text`: the LLM finds words, for the reason that `hint` gives it. */
  after(spokenMs: number, history: History, say: (text: string | null, hint: string) => void): void {
    if (history.isEmpty) return say(this.#pipeline.firstMessage, greetingHint)
    if (spokenMs < spokenMsMin || this.#askedAt === history.userTurns) return
    this.#askedAt = history.userTurns
    say(null, unheardHint)
  }
}
