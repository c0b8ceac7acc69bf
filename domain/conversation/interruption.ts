/** Judges the speech of a user in the agent's turn: an interruption, or only a sign of listening. */
import type { Clock } from '../ports/system.ts'
import type { Pipeline } from '../records/pipeline.ts'
import { isBackchannel } from './backchannel.ts'
import type { InterruptionMode } from './turn-machine.ts'
import { wordsOf } from './user-text.ts'

export type Speech = {
  text: string
  /** The text does not change any more. */
  isFinal: boolean
  talks: boolean
}

export class Interruption {
  readonly #clock: Clock
  readonly #pipeline: Pick<Pipeline, 'turnHandling' | 'intent'>
  #cancel: (() => void) | null = null

  constructor(clock: Clock, pipeline: Pick<Pipeline, 'turnHandling' | 'intent'>) {
    this.#clock = clock
    this.#pipeline = pipeline
  }

  /** Null: it is not clear yet. `isLast`: no more time is given. */
  judge({ text, isFinal, talks }: Speech, isLast: boolean): 'words' | 'falseAlarm' | null {
    const { minWords } = this.#pipeline.turnHandling.interruption
    const isMore = text !== '' && !isBackchannel(text, this.#pipeline.intent.language)
    if (isMore && wordsOf(text).length >= minWords) return 'words'
    return isLast || (!talks && text !== '' && isFinal) ? 'falseAlarm' : null
  }

  /** Speech has begun: `due` is called when it must be judged. */
  begin(mode: InterruptionMode, due: () => void): void {
    this.end()
    if (mode === 'none') return
    const { minDuration, falseTimeout } = this.#pipeline.turnHandling.interruption
    this.#cancel = this.#clock.after(mode === 'vad' ? minDuration : falseTimeout, due)
  }

  end(): void {
    this.#cancel?.()
    this.#cancel = null
  }
}
