import type { Clock } from '../../domain/ports.ts'

export type Dated = {
  /** Clock.monotonicMs(); Infinity is never. May move at any time, without telling. */
  dueMs: number
  onDue(): void
}

/** One timer looks after all sockets, because a timer for each, set anew by each frame, would cost more than the frame. */
export class Deadlines {
  readonly #clock: Clock
  readonly #dated = new Set<Dated>()
  #cancel: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  nowMs(): number {
    return this.#clock.monotonicMs()
  }

  add(dated: Dated): void {
    this.#dated.add(dated)
    this.#cancel ??= this.#clock.after(lookEveryMs, () => this.#look())
  }

  delete(dated: Dated): void {
    this.#dated.delete(dated)
    if (this.#dated.size > 0) return
    this.#cancel?.()
    this.#cancel = null
  }

  #look(): void {
    this.#cancel = this.#clock.after(lookEveryMs, () => this.#look())
    const nowMs = this.nowMs()
    for (const dated of this.#dated) if (dated.dueMs <= nowMs) dated.onDue()
  }
}

/** How late a deadline can be noticed. */
const lookEveryMs = 100
