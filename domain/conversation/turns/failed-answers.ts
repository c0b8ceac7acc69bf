import type { Fault } from '../../records/fault.ts'
import { isHopeless } from '../parts/stage-retries.ts'
import { failedTurnsMax } from './turn-limits.ts'

/** Counts the turns in a row without an answer, because the session ends after too many of them. */
export class FailedAnswers {
  #count = 0

  /** Counts a failed answer. Returns true if the session cannot go on. */
  add(fault: Fault): boolean {
    this.#count += 1
    return isHopeless(fault) || this.#count >= failedTurnsMax
  }

  reset(): void {
    this.#count = 0
  }
}
