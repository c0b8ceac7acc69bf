/** Decides whether speech in the agent's turn is an interruption or only a backchannel. */
import type { Clock } from '../../ports/system.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import { isBackchannel } from '../words/backchannel.ts'
import { callersLanguage } from '../words/languages/languages.ts'
import { wordsOf } from '../words/user-text.ts'
import { type InterruptionMode, isAgents, type TurnState } from './turn-machine.ts'

/** The methods of the turns that this file needs. */
export type InterruptedTurns = {
  mode(): InterruptionMode
  state(): TurnState
  /** Returns the user's words so far. If `isFinal` is true, the words do not change any more. */
  user(): { text: string; isFinal: boolean }
  react(verdict: 'words' | 'falseAlarm' | 'longSpeech'): void
}

type InterruptedPipeline = Pick<Pipeline, 'turnHandling' | 'intent' | 'sttOptions'>

export class Interruption {
  readonly #clock: Clock
  readonly #pipeline: InterruptedPipeline
  readonly #turns: InterruptedTurns
  #cancel: (() => void) | null = null

  constructor(clock: Clock, pipeline: InterruptedPipeline, turns: InterruptedTurns) {
    this.#clock = clock
    this.#pipeline = pipeline
    this.#turns = turns
  }

  /** Decides from the user's words so far. `isLast` is true if a decision must be made now. */
  judge(isLast: boolean): void {
    if (this.#turns.mode() !== 'adaptive') return
    const verdict = this.#verdict(isLast)
    if (verdict === 'words' || (verdict === 'falseAlarm' && this.#turns.state().phase === 'paused'))
      this.#turns.react(verdict)
  }

  /** Call this when speech has begun. During the agent's turn, the decision follows after a while. */
  begin(): void {
    const mode = this.#turns.mode()
    if (!isAgents(this.#turns.state().phase)) return
    this.end()
    if (mode === 'none') return
    const { minDuration, falseTimeout } = this.#pipeline.turnHandling.interruption
    this.#cancel = this.#clock.after(mode === 'vad' ? minDuration : falseTimeout, () => {
      if (this.#turns.mode() === 'adaptive') this.judge(true)
      else if (this.#turns.state().talks) this.#turns.react('longSpeech')
    })
  }

  end(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  /** Returns the decision, or null if more words are needed. */
  #verdict(isLast: boolean): 'words' | 'falseAlarm' | null {
    const { text, isFinal } = this.#turns.user()
    const { minWords } = this.#pipeline.turnHandling.interruption
    const isMore = text !== '' && !isBackchannel(text, callersLanguage(this.#pipeline))
    if (isMore && wordsOf(text).length >= minWords) return 'words'
    return isLast || (!this.#turns.state().talks && text !== '' && isFinal) ? 'falseAlarm' : null
  }
}
