import type { Clock } from '../ports/system.ts'

/** The answer to a clear is waited for this long, to know how far a turn was played. */
const settleMs = 300

/** Work that waits until it is known how far an interrupted turn was played. */
export class Settling {
  readonly #clock: Clock
  #waiting: (() => void)[] | null = null
  #cancel: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isUnderWay(): boolean {
    return this.#waiting !== null
  }

  /** `settled` is the first to run. */
  begin(settled: () => void): void {
    this.settle()
    this.#waiting = [settled]
    this.#cancel = this.#clock.after(settleMs, () => this.settle())
  }

  /** It is known now. */
  settle(): void {
    const waiting = this.#waiting
    this.#waiting = null
    this.#cancel?.()
    for (const run of waiting ?? []) run()
  }

  /** Runs now where nothing is under way. */
  afterwards(run: () => void): void {
    if (this.#waiting === null) run()
    else this.#waiting.push(run)
  }
}
