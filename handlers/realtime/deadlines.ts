import type { Clock } from '../../domain/ports/system.ts'
import type { Placed } from '../../runtime/timing/roster.ts'
import { Watch } from '../../runtime/timing/watch.ts'

export interface Dated extends Placed {
  /** The deadline as a tick from `Deadlines.after`. Null if there is no deadline. May be set at any time. */
  due: number | null
  onDue(): void
}

/**
 * Watches all sockets' deadlines with one timer, because resetting a timer per socket at each frame would cost more
 * than the frame.
 *
 * Time is counted in ticks, and a frame uses the count from the timer's last run. So a frame reads no clock, and the
 * socket's object stores a whole number. V8 would keep a fractional number in a separate object. Ticks come from the
 * clock, not from the number of runs, because a busy event loop delays the timer, and the delays would add up.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #watch: Watch<Dated>
  readonly #startedMs: number
  #ticks = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedMs = clock.monotonicMs()
    this.#watch = new Watch(clock, tickMs, (dated, nowMs) => {
      this.#ticks = this.#ticksAt(nowMs)
      if (dated.due !== null && dated.due <= this.#ticks) dated.onDue()
    })
  }

  /**
   * Returns the tick that is `ms` from now. `onDue` runs up to two ticks late. If the timer's last run was delayed,
   * `onDue` may run early by this delay.
   */
  after(ms: number): number {
    return this.#ticks + Math.ceil(ms / tickMs) + 1
  }

  add(dated: Dated): void {
    this.#watch.add(dated)
    // While no deadline was watched, the timer did not count ticks, so they are counted now.
    this.#ticks = this.#ticksAt(this.#clock.monotonicMs())
  }

  delete(dated: Dated): void {
    this.#watch.delete(dated)
    if (this.#watch.size === 0) this.#watch.stop()
  }

  #ticksAt(nowMs: number): number {
    return Math.floor((nowMs - this.#startedMs) / tickMs)
  }
}

const tickMs = 100
