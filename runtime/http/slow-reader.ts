import type { Engine } from './engine.ts'
import type { HttpExchange } from './http-exchange.ts'

/** Waits until a stream's client has read the written bytes. Ends the connection after `readerTimeoutMs`. */
export class SlowReader {
  readonly #engine: Engine
  readonly #exchange: HttpExchange
  #cancel: (() => void) | null = null

  constructor(engine: Engine, exchange: HttpExchange) {
    this.#engine = engine
    this.#exchange = exchange
  }

  /**
   * Waits until the client has read enough. If the client leaves, this never settles, but HttpExchange.whileHere
   * rejects.
   */
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
   * Keeps the connection open. A client may play audio as it arrives: it reads some hundred KiB at once, and then
   * nothing for many seconds.
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

/** Well below 10 s, because after 10 s uWebSockets.js ends a connection if its client reads nothing. */
const holdEveryMs = 4000
