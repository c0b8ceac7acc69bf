import type { Engine } from '../engine/engine.ts'
import type { HttpExchange } from './http-exchange.ts'

/** Waits until the client of a stream has taken what was written; ends the connection when it takes longer than `readerTimeoutMs`. */
export class SlowReader {
  readonly #engine: Engine
  readonly #exchange: HttpExchange
  #cancel: (() => void) | null = null

  constructor(engine: Engine, exchange: HttpExchange) {
    this.#engine = engine
    this.#exchange = exchange
  }

  /** Never settles when the client leaves; Exchange.whileHere does. */
  drained(): Promise<void> {
    const { clock, limits } = this.#engine.options
    const giveUpMs = clock.monotonicMs() + limits.readerTimeoutMs
    return new Promise((resolve) => {
      this.#exchange.wire.onDrained(() => {
        this.stop()
        resolve()
      })
      this.#hold(giveUpMs)
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  /** A client that plays audio as it comes takes some hundred KiB at a time, and nothing for many seconds in between. */
  #hold(giveUpMs: number): void {
    const { clock } = this.#engine.options
    const { wire } = this.#exchange
    const leftMs = giveUpMs - clock.monotonicMs()
    if (leftMs <= 0) return wire.close()
    wire.holdOpen()
    this.#cancel = clock.after(Math.min(holdEveryMs, leftMs), () => this.#hold(giveUpMs))
  }
}

/** Well below the 10 s after which uWebSockets.js ends a connection whose client takes nothing. */
const holdEveryMs = 4000
