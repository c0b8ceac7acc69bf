/** The timers of a simulated process in a sequence, until the process dies. */

import type { Clock } from '../../../domain/ports/system.ts'
import type { TestClock } from '../../clock.ts'

/** A process that may die. After its death its timers do not fire, and its requests get no answer. */
export class Life implements Clock {
  readonly #clock: TestClock
  isAlive = true

  constructor(clock: TestClock) {
    this.#clock = clock
  }

  nowMs(): number {
    return this.#clock.nowMs()
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }

  after(delayMs: number, run: () => void): () => void {
    return this.#clock.after(delayMs, () => {
      if (this.isAlive) run()
    })
  }

  every(periodMs: number, run: () => Promise<unknown>): void {
    this.after(periodMs, () => {
      run().then(
        () => this.every(periodMs, run),
        () => this.every(periodMs, run),
      )
    })
  }
}

export const never = <T>(): Promise<T> => new Promise<T>(() => {})
