import { HttpExchange, UploadMemory } from '../http/http-exchange.ts'
import type { Receiver } from '../http/receiver.ts'
import { Routes } from '../http/routes.ts'
import { roundedMs } from '../log.ts'
import { Roster } from '../roster.ts'
import { Watch } from '../watch.ts'
import { SocketRoutes } from '../ws/routes.ts'
import { Sockets } from '../ws/sockets.ts'
import { EdgeQuota } from './edge-quota.ts'
import type { FaultAnswer } from './handler.ts'
import { renameHeader } from './head.ts'
import type { ServerOptions } from './options.ts'
import { type RelayClient, RelayedFault } from './relay/outgoing.ts'
import type { Transport } from './transport.ts'

export type ServerState = 'starting' | 'ready' | 'draining' | 'ending' | 'stopped'

/** The state that all exchanges share, and the one place where they begin and end. */
export class Engine {
  readonly options: ServerOptions
  readonly routes: Routes
  readonly socketRoutes: SocketRoutes
  readonly sockets: Sockets
  readonly quota: EdgeQuota
  readonly memory: UploadMemory
  /**
   * The bodies on their way. Most are whole within the tick that began them, and a timer for each would cost more than
   * the rest of its work.
   */
  readonly stalls: Watch<Receiver>
  readonly requestIdHeader: string
  readonly regionHeader: string
  state: ServerState = 'starting'
  /** Null: no other process is reached. */
  relay: RelayClient | null = null
  /** Whether answers ask the client to close its connection. */
  asksToClose = false
  readonly #exchanges = new Roster<HttpExchange>()
  readonly #idleWaiters = new Set<() => void>()

  /** Throws when a mount lacks a handler, two mounts serve one path, or a trusted proxy is not a CIDR range. */
  constructor(options: ServerOptions) {
    const { mounts, sockets, headerPrefix, edgeQuota, limits, clock } = options
    this.options = options
    this.routes = new Routes(mounts, headerPrefix)
    this.socketRoutes = new SocketRoutes(sockets, mounts, headerPrefix)
    this.sockets = new Sockets(options, () => this.#settleIdle())
    this.quota = new EdgeQuota(edgeQuota, limits.connectionsPerAddressMax)
    this.memory = new UploadMemory(limits.uploadMemory)
    this.stalls = new Watch(clock, limits.bodyTimeoutMs / 4, (receiver, nowMs) => receiver.look(nowMs))
    this.requestIdHeader = renameHeader('Service-Request-ID', headerPrefix)
    this.regionHeader = renameHeader('Service-Region', headerPrefix)
  }

  /** While the server drains it still serves what reaches it. */
  get isServing(): boolean {
    return this.state === 'ready' || this.state === 'draining'
  }

  get inflight(): number {
    return this.#exchanges.size
  }

  open(transport: Transport): HttpExchange {
    const { options } = this
    const exchange = new HttpExchange(transport, options.requestId(), options.clock.monotonicMs(), this.memory)
    transport.onAborted(() => exchange.leave())
    this.#exchanges.add(exchange)
    options.metrics.inflight(this.#exchanges.size)
    return exchange
  }

  /** Must be called once for each exchange, however it ended. */
  close(exchange: HttpExchange): void {
    const { metrics, clock, log } = this.options
    this.#exchanges.delete(exchange)
    exchange.onGone = null
    exchange.receiver?.fail(abandoned)
    exchange.releaseMemory()
    if (exchange.source !== null) this.quota.leave(exchange.source)
    const { requestId, operation, isGone } = exchange
    const status = exchange.status || 499
    const durationMs = clock.monotonicMs() - exchange.startedMs
    exchange.endSpan?.(status)
    metrics.request(operation, status, durationMs)
    metrics.inflight(this.#exchanges.size)
    const fields = { requestId, operation, status, durationMs: roundedMs(durationMs), isGone }
    if (!exchange.mount?.health) log.info(fields, 'request')
    this.#settleIdle()
  }

  /** The envelope of the surface that the request belongs to. Never throws. */
  faultAnswer({ mount, requestId }: Pick<HttpExchange, 'mount' | 'requestId'>, error: unknown): FaultAnswer {
    if (error instanceof RelayedFault) return error.answer
    const { mounts, log } = this.options
    const surface = mount ?? mounts[0]
    try {
      if (surface) return surface.writeFault(error, requestId)
    } catch (cause) {
      log.error({ requestId, err: cause }, 'the fault could not be written')
    }
    return { status: 500, headers: {}, body: '{}' }
  }

  /** Aborts the signal of everything in flight. Handlers that listen to it end with a fault. */
  abortAll(reason: Error): void {
    for (const exchange of this.#exchanges.all()) exchange.abort(reason)
  }

  /** True when no request is in flight and no socket is open any more; false when that took longer than `timeoutMs`. */
  idle(timeoutMs: number): Promise<boolean> {
    if (this.#isIdle) return Promise.resolve(true)
    return new Promise((resolve) => {
      const settle = () => {
        this.#idleWaiters.delete(settle)
        cancel()
        resolve(this.#isIdle)
      }
      const cancel = this.options.clock.after(timeoutMs, settle)
      this.#idleWaiters.add(settle)
    })
  }

  get #isIdle(): boolean {
    return this.#exchanges.size === 0 && this.sockets.count === 0
  }

  #settleIdle(): void {
    if (this.#isIdle) for (const settle of this.#idleWaiters) settle()
  }
}

/** The failure of a body that nothing waits for any more. */
const abandoned = new Error('the exchange has ended')
