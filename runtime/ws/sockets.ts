import type { ServerOptions } from '../engine/options.ts'
import { Capacity, type Place } from '../shares/capacity.ts'
import { roundedMs } from '../telemetry/log.ts'
import { Watch } from '../timing/watch.ts'
import type { Connection, SocketRegister } from './connection.ts'

/** All open sockets in a process, and their shared timer. */
export class Sockets implements SocketRegister {
  readonly bufferBytesMax: number
  readonly #options: ServerOptions
  readonly #onEmpty: () => void
  readonly #open = new Set<Connection>()
  readonly #capacity: Capacity
  /**
   * The connections whose client reads more slowly than we send. Such connections are few. All other connections cost
   * nothing here.
   */
  readonly #behind: Watch<Connection>

  constructor(options: ServerOptions, onEmpty: () => void) {
    this.bufferBytesMax = options.limits.bufferBytesMax
    this.#options = options
    const { limits, shares } = options
    this.#capacity = new Capacity({ max: limits.socketsMax, part: shares.part }, shares.owners)
    this.#onEmpty = onEmpty
    this.#behind = new Watch(options.clock, lookEveryMs, (connection, nowMs) => connection.overdue(nowMs))
  }

  get count(): number {
    return this.#open.size
  }

  /** True if the limit for open sockets is reached. */
  get isFull(): boolean {
    return this.#capacity.used >= this.#options.limits.socketsMax
  }

  /**
   * Takes one of the places that the limit on open sockets allows. Returns null if the owner (usually an organization)
   * may not open a socket now.
   */
  take(owner: string): Place | null {
    return this.#capacity.take(owner)
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
    const { requestId, startedMs, logFields } = connection.context
    metrics.socketClosed(channel, code)
    recordSocket(connection, code)
    log.info({ requestId, channel, code, durationMs: roundedMs(this.nowMs() - startedMs), ...logFields }, 'socket')
    if (this.#open.size === 0) this.#onEmpty()
  }

  report(connection: Connection, error: unknown): void {
    const { channelId: channel, context } = connection
    const { requestId, trace } = context
    this.#options.log.error({ requestId, channel, ...trace?.logFields, err: error }, 'the session failed')
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

/** Records one span, from the request to the socket's end. */
function recordSocket({ context, channelId, address }: Connection, code: number): void {
  const { trace, requestId, startedMs } = context
  trace?.record({
    name: `GET ${address}`,
    kind: 'server',
    startedMs,
    attributes: {
      'http.request.method': 'GET',
      'http.route': address,
      'http.response.status_code': 101,
      'network.protocol.name': 'websocket',
      'parley.operation': channelId,
      'parley.request.id': requestId,
      'parley.socket.close_code': code,
    },
    ...(code === 1011 && { failure: 'internal' }),
  })
}

/** The longest delay until a slow client's time-out is noticed. */
const lookEveryMs = 1000
