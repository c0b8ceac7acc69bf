/**
 * Chooses the agent's words after speech in which no word was understood, so that the call does not stay silent. If the
 * conversation has no turn yet, the agent says a greeting. Otherwise it asks the user to repeat, but only once until
 * words are understood.
 */
import type { Pipeline } from '../../records/pipeline.ts'
import type { History } from './history.ts'
import { greetingHint } from './session-timers.ts'

/** Sounds shorter than this, such as coughs and doors, get no reaction. */
const spokenMsMin = 400
/** The LLM reads this hint as a message from the user. */
export const unheardHint =
  '[The caller has said something, and no word of it was understood. Ask them in one short sentence to say it again.]'

export class Unheard {
  readonly #pipeline: Pick<Pipeline, 'firstMessage'>
  /** The number of user turns when the agent last asked the user to repeat. */
  #turnsAtQuestion: number | null = null

  constructor(pipeline: Pick<Pipeline, 'firstMessage'>) {
    this.#pipeline = pipeline
  }

  /** Calls `say` if the agent should speak. If `text` is null, the LLM writes the words, with `hint` as the reason. */
  after(spokenMs: number, history: History, say: (text: string | null, hint: string) => void): void {
    if (history.isEmpty) return say(this.#pipeline.firstMessage, greetingHint)
    if (spokenMs < spokenMsMin || this.#turnsAtQuestion === history.userTurns) return
    this.#turnsAtQuestion = history.userTurns
    say(null, unheardHint)
  }
}
