import type { Clock } from '../ports/system.ts'

/** Digits without a # are complete after this time. */
const pauseMs = 2000
/** More digits than these are a turn by themselves. */
const digitsMax = 128

/** Gathers the keys that a user presses. They are one turn, up to a # or a pause. */
export class Digits {
  readonly #clock: Clock
  readonly #done: (digits: string) => void
  #digits = ''
  #cancel: (() => void) | null = null

  constructor(clock: Clock, done: (digits: string) => void) {
    this.#clock = clock
    this.#done = done
  }

  push(digits: string): void {
    // Keys that come together are one turn. 32 turns in a frame would ask the LLM 32 times.
    const end = digits.lastIndexOf('#')
    for (const [at, digit] of [...digits].entries()) {
      this.#digits += digit
      if (at === end || this.#digits.length >= digitsMax) this.#flush()
    }
    this.#cancel?.()
    this.#cancel = this.#digits === '' ? null : this.#clock.after(pauseMs, () => this.#flush())
  }

  close(): void {
    this.#cancel?.()
  }

  #flush(): void {
    this.#cancel?.()
    this.#cancel = null
    const digits = this.#digits
    this.#digits = ''
    this.#done(digits)
  }
}
