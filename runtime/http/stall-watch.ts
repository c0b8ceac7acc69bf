import type { Clock } from '../engine/options.ts'
import { Roster } from '../roster.ts'
import type { Receiver } from './receive.ts'

/** One timer for all bodies on their way: most are whole within the tick that began them, and a timer each would cost more than the rest of them. */
export class StallWatch {
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #arriving = new Roster<Receiver>()
  #cancel: (() => void) | null = null

  /** A body stalls when no byte came for `timeoutMs`; noticed up to a quarter later. */
  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  nowMs(): number {
    return this.#clock.monotonicMs()
  }

  add(receiver: Receiver): void {
    this.#arriving.add(receiver)
    this.#cancel ??= this.#clock.after(this.#timeoutMs / 4, () => this.#sweep())
  }

  delete(receiver: Receiver): void {
    this.#arriving.delete(receiver)
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #sweep(): void {
    this.#cancel = null
    const nowMs = this.nowMs()
    for (const receiver of this.#arriving.all()) {
      const isSilent = nowMs - receiver.progressMs > this.#timeoutMs
      if (isSilent || nowMs - receiver.startedMs > receiver.bodyTimeoutMs) receiver.stall()
    }
    if (this.#arriving.size > 0) this.#cancel = this.#clock.after(this.#timeoutMs / 4, () => this.#sweep())
  }
}
