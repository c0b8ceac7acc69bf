import type { Clock } from '../../domain/ports/system.ts'

/** The estimated round trip (RFC 3261, T1). After this time a message is repeated for the first time. */
const t1Ms = 500

/** Repeats a message after 0.5 s, 1 s, 2 s …, because UDP may lose messages. */
export class Repeats {
  readonly #clock: Clock
  #cancel = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `pauseMaxMs` is the longest pause between two messages. */
  start(send: () => void, pauseMaxMs: number): void {
    const after = (pauseMs: number) => {
      this.#cancel = this.#clock.after(pauseMs, () => {
        after(Math.min(2 * pauseMs, pauseMaxMs))
        send()
      })
    }
    after(t1Ms)
  }

  stop(): void {
    this.#cancel()
  }
}
