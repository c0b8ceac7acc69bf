import type { Engine } from './engine.ts'
import type { HttpExchange } from './http-exchange.ts'

/**
 * Waits until the client of a stream has taken what was written. Ends the connection when that takes longer than
 * `readerTimeoutMs`.
 */
export class SlowReader {
  readonly #engine: Engine
  readonly #exchange: HttpExchange
  #cancel: (() => void) | null = null

  constructor(engine: Engine, exchange: HttpExchange) {
    this.#engine = engine
    this.#exchange = exchange
  }

  /** Never settles when the client leaves; HttpExchange.whileHere does. */
  drained(): Promise<void> {
    const { clock, limits } = this.#engine.options
    const giveUpMs = clock.monotonicMs() + limits.readerTimeoutMs
    return new Promise((resolve) => {
      this.#exchange.transport.onDrained(() => {
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

  /**
   * Keeps the connection open: a client that plays audio as it arrives takes some hundred KiB at a time, and nothing
   * for many seconds between.
   */
  #hold(giveUpMs: number): void {
    const { clock } = this.#engine.options
    const { transport } = this.#exchange
    const leftMs = giveUpMs - clock.monotonicMs()
    if (leftMs <= 0) return transport.close()
    transport.holdOpen()
    this.#cancel = clock.after(Math.min(holdEveryMs, leftMs), () => this.#hold(giveUpMs))
  }
}

/** Well below the 10 s after which uWebSockets.js ends a connection whose client takes nothing. */
const holdEveryMs = 4000
