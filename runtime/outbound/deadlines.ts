import { CancelSource } from '../engine/cancel-signal.ts'
import type { Placed } from '../timing/roster.ts'
import { Watch, type WatchClock } from '../timing/watch.ts'

/** A signal, aborted at a given time unless `end` was called before. One timer serves all deadlines. */
export class Deadline implements Placed {
  place = -1
  readonly signal = new CancelSource()
  readonly atMs: number
  readonly #watch: Watch<Deadline>

  constructor(watch: Watch<Deadline>, atMs: number) {
    this.#watch = watch
    this.atMs = atMs
  }

  end(): void {
    this.#watch.delete(this)
  }
}

/** The longest delay in noticing a deadline. */
const lookEveryMs = 50

export function createDeadlines(clock: WatchClock): (delayMs: number) => Deadline {
  const watch = new Watch<Deadline>(clock, lookEveryMs, (deadline, nowMs) => {
    if (deadline.atMs > nowMs) return
    deadline.end()
    deadline.signal.abort(new Error('the time is up'))
  })
  return (delayMs) => {
    const deadline = new Deadline(watch, clock.monotonicMs() + delayMs)
    watch.add(deadline)
    return deadline
  }
}
