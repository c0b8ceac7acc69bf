import { CancelSource } from '../engine/cancel-signal.ts'
import type { Placed } from '../timing/roster.ts'
import { Watch, type WatchClock } from '../timing/watch.ts'

/** A signal that is aborted at a time, unless it is ended before. One timer serves all of them. */
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

/** A deadline is noticed this late at most. */
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
