/**
 * The time of what takes a carrier seconds to days: reviews of businesses and campaigns, assignments and orders of numbers. It
 * can be moved forward, so that nobody has to wait for them. Calls and messages keep to the real time, because people and
 * programs at their other end do too.
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

  /** Answers the time from now on. */
  advance(byMs: number): number {
    this.#aheadMs += byMs
    return this.nowMs()
  }
}
