/**
 * A clock for a carrier's slow work, from seconds to days: brand and campaign reviews, number assignments and orders. A
 * user can move the clock forward instead of waiting. Calls and messages use the real time, because people and programs
 * react in real time.
 */
import type { SimulatorClock } from './media/clock.ts'

export class ReviewClock implements Pick<SimulatorClock, 'nowMs'> {
  readonly #clock: Pick<SimulatorClock, 'nowMs'>
  #aheadMs = 0

  constructor(clock: Pick<SimulatorClock, 'nowMs'>) {
    this.#clock = clock
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.#aheadMs
  }

  /** Moves the clock forward and returns its new time. */
  advance(byMs: number): number {
    this.#aheadMs += byMs
    return this.nowMs()
  }
}
