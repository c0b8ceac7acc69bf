import type { Clock } from '../../domain/ports/system.ts'
import type { Placed } from '../../runtime/timing/roster.ts'
import { Watch } from '../../runtime/timing/watch.ts'

export interface Dated extends Placed {
  /** A value of `Deadlines.after`, or null for never. May be set at any time. */
  due: number | null
  onDue(): void
}

/**
 * Deadlines of all sockets under one timer, because a timer for each socket, set anew by each frame, would cost more than the frame.
 *
 * Time is counted in ticks as of the last look. A frame then reads no clock, and a whole number is stored in its object, where V8 keeps a
 * fraction of a millisecond in a separate one. The ticks come from the clock and not from the number of looks: a busy event loop makes looks
 * late, and the delays would add up.
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

  /** In `ms`, noticed up to two ticks later. It is early only by as long as a busy event loop has delayed the last look. */
  after(ms: number): number {
    return this.#ticks + Math.ceil(ms / tickMs) + 1
  }

  add(dated: Dated): void {
    this.#watch.add(dated)
    // While nothing was watched the clock was not read.
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
