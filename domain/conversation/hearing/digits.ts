import type { Clock } from '../../ports/system.ts'

/** After this pause, the digits so far become a turn even without a `#`. */
const pauseMs = 2000
/** When this many digits have arrived, they become a turn without a `#` or a pause. */
const digitsMax = 128
/**
 * The maximum number of turns from keys in `windowMs`. No person presses `#` more often, but a client can send keys at
 * any speed, and each turn costs an LLM request and a stored row. At the limit, further keys wait and become one turn.
 * Keys beyond `digitsMax` are dropped.
 */
const turnsMax = 20
const windowMs = 10_000

/** Collects the keys that a user presses. All keys up to a `#` or a pause form one turn. */
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
    // Keys in one frame form one turn. If each of its 32 keys were a turn, the frame would ask the LLM 32 times.
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
