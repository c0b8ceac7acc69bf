import type { Clock } from '../../ports/system.ts'

/** Digits without a # are complete after this time. */
const pauseMs = 2000
/** More digits than these are a turn by themselves. */
const digitsMax = 128
/**
 * Nobody presses # more often. A line sends keys as fast as it likes, and each turn asks the LLM and is stored, so further keys wait and become
 * one turn. Those over `digitsMax` are dropped.
 */
const turnsMax = 20
const windowMs = 10_000

/** Gathers the keys that a user presses. They are one turn, up to a # or a pause. */
export class Digits {
  readonly #clock: Clock
  readonly #done: (digits: string) => void
  #digits = ''
  #cancel: (() => void) | null = null
  #windowFromMs = Number.NEGATIVE_INFINITY
  #turnsInWindow = 0

  constructor(clock: Clock, done: (digits: string) => void) {
    this.#clock = clock
    this.#done = done
  }

  push(digits: string): void {
    // Keys that come together are one turn. 32 turns in a frame would ask the LLM 32 times.
    const end = digits.lastIndexOf('#')
    for (const [at, digit] of [...digits].entries()) {
      if (this.#digits.length < digitsMax) this.#digits += digit
      if (at === end || this.#digits.length >= digitsMax) this.#flush()
    }
    this.#awaitPause()
  }

  close(): void {
    this.#cancel?.()
  }

  #awaitPause(): void {
    this.#cancel?.()
    this.#cancel = null
    if (this.#digits === '') return
    this.#cancel = this.#clock.after(pauseMs, () => {
      this.#flush()
      this.#awaitPause()
    })
  }

  #flush(): void {
    if (!this.#mayBeTurn()) return
    this.#cancel?.()
    this.#cancel = null
    const digits = this.#digits
    this.#digits = ''
    this.#done(digits)
  }

  #mayBeTurn(): boolean {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#windowFromMs >= windowMs) {
      this.#windowFromMs = nowMs
      this.#turnsInWindow = 0
    }
    this.#turnsInWindow += 1
    return this.#turnsInWindow <= turnsMax
  }
}
