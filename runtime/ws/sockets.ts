import type { ServerOptions } from '../engine/options.ts'
import { roundedMs } from '../log.ts'
import { Watch } from '../watch.ts'
import type { Connection } from './connection.ts'

/** All open sockets of a process, and the one timer that they share. */
export class Sockets {
  readonly bufferBytesMax: number
  readonly checksSent: boolean
  readonly #options: ServerOptions
  readonly #onEmpty: () => void
  readonly #open = new Set<Connection>()
  /** Those whose reader is behind. Few: a timer each would cost the many. */
  readonly #behind: Watch<Connection>

  constructor(options: ServerOptions, onEmpty: () => void) {
    this.bufferBytesMax = options.limits.socketBufferBytesMax
    this.checksSent = options.checkResponses
    this.#options = options
    this.#onEmpty = onEmpty
    this.#behind = new Watch(options.clock, lookEveryMs, (connection, nowMs) => connection.overdue(nowMs))
  }

  get count(): number {
    return this.#open.size
  }

  get isFull(): boolean {
    return this.#open.size >= this.#options.limits.socketsMax
  }

  nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  readerDeadlineMs(): number {
    return this.nowMs() + this.#options.limits.readerTimeoutMs
  }

  add(connection: Connection): void {
    this.#open.add(connection)
    this.#options.metrics.socketOpened(connection.channelId)
  }

  remove(connection: Connection, code: number): void {
    const { metrics, log } = this.#options
    this.#open.delete(connection)
    this.unwatch(connection)
    const { channelId: channel } = connection
    const { requestId, startedMs } = connection.context
    metrics.socketClosed(channel, code)
    log.info({ requestId, channel, code, durationMs: roundedMs(this.nowMs() - startedMs) }, 'socket')
    if (this.#open.size === 0) this.#onEmpty()
  }

  /** A session that threw. */
  report(connection: Connection, error: unknown): void {
    const { channelId: channel, context } = connection
    this.#options.log.error({ requestId: context.requestId, channel, err: error }, 'the session failed')
  }

  watch(connection: Connection): void {
    this.#behind.add(connection)
  }

  unwatch(connection: Connection): void {
    this.#behind.delete(connection)
    if (this.#behind.size === 0) this.#behind.stop()
  }

  shutdown(): void {
    for (const connection of this.#open) connection.shutdown()
  }

  endAll(code: number, reason: string): void {
    for (const connection of this.#open) connection.end(code, reason)
  }
}

/** How late a reader's time-out may be noticed. */
const lookEveryMs = 1000
