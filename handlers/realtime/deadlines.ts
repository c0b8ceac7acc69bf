import type { Clock } from '../../domain/ports/system.ts'

export type Dated = {
  /** What `Deadlines.after` said, or null for never. May move at any time, without telling. */
  due: number | null
  onDue(): void
}

/**
 * One timer looks after all sockets, because a timer for each, set anew by each frame, would cost more than the frame. Time is counted in ticks as of
 * the last look: a frame then asks no clock, and a whole number lies in its object, where V8 keeps a fraction of a millisecond in another one.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #dated = new Set<Dated>()
  readonly #startedMs: number
  #ticks = 0
  #cancel: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedMs = clock.monotonicMs()
  }

  /** In `ms`, noticed up to two ticks later; earlier only by as long as a busy event loop has put off the last look. */
  after(ms: number): number {
    return this.#ticks + Math.ceil(ms / tickMs) + 1
  }

  add(dated: Dated): void {
    this.#dated.add(dated)
    this.#readClock()
    this.#cancel ??= this.#clock.after(tickMs, () => this.#look())
  }

  delete(dated: Dated): void {
    this.#dated.delete(dated)
    if (this.#dated.size > 0) return
    this.#cancel?.()
    this.#cancel = null
  }

  #look(): void {
    this.#cancel = this.#clock.after(tickMs, () => this.#look())
    this.#readClock()
    for (const dated of this.#dated) if (dated.due !== null && dated.due <= this.#ticks) dated.onDue()
  }

  #readClock(): void {
    this.#ticks = Math.floor((this.#clock.monotonicMs() - this.#startedMs) / tickMs)
  }
}

const tickMs = 100
