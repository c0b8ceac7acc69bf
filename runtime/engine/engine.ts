import { HttpExchange } from '../http/http-exchange.ts'
import { Routes } from '../http/routes.ts'
import { StallWatch } from '../http/stall-watch.ts'
import { UploadMemory } from '../http/upload-memory.ts'
import { roundedMs } from '../log.ts'
import { Roster } from '../roster.ts'
import { SocketRoutes } from '../ws/routes.ts'
import { Sockets } from '../ws/sockets.ts'
import { EdgeQuota } from './edge-quota.ts'
import { renameHeader } from './header-names.ts'
import type { ServerOptions } from './options.ts'
import type { Transport } from './transport.ts'

export type ServerState = 'starting' | 'ready' | 'draining' | 'stopped'

/** What all exchanges share, and the one place where they begin and end. */
export class Engine {
  readonly options: ServerOptions
  readonly routes: Routes
  readonly socketRoutes: SocketRoutes
  readonly sockets: Sockets
  readonly quota: EdgeQuota
  readonly memory: UploadMemory
  readonly stalls: StallWatch
  readonly requestIdHeader: string
  readonly regionHeader: string
  state: ServerState = 'starting'
  readonly #exchanges = new Roster<HttpExchange>()
  readonly #idleWaiters = new Set<() => void>()

  /** Throws when a mount lacks a handler, two mounts claim a path, or a trusted proxy is no CIDR range. */
  constructor(options: ServerOptions) {
    const { mounts, sockets, headerPrefix, edgeQuota, limits, clock } = options
    this.options = options
    this.routes = new Routes(mounts, headerPrefix)
    this.socketRoutes = new SocketRoutes(sockets, mounts, headerPrefix)
    this.sockets = new Sockets(options, () => this.#settleIdle())
    this.quota = new EdgeQuota(edgeQuota, limits.connectionsPerIpMax)
    this.memory = new UploadMemory(limits.uploadMemoryBytesMax)
    this.stalls = new StallWatch(clock, limits.bodyTimeoutMs)
    this.requestIdHeader = renameHeader('Service-Request-ID', headerPrefix)
    this.regionHeader = renameHeader('Service-Region', headerPrefix)
  }

  get inflight(): number {
    return this.#exchanges.size
  }

  open(wire: Transport): HttpExchange {
    const { options } = this
    const exchange = new HttpExchange(wire, options.requestId(), options.clock.monotonicMs(), this.memory)
    wire.onAborted(() => exchange.leave())
    this.#exchanges.add(exchange)
    options.metrics.inflight(this.#exchanges.size)
    return exchange
  }

  /** Once an exchange: whatever way it took, it ends here. */
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

  /** Aborts the signal of everything in flight; what listens to it ends with a fault. */
  abortAll(reason: Error): void {
    for (const exchange of this.#exchanges.all()) exchange.abort(reason)
  }

  /** True when nothing is in flight and no socket open any more; false when that took longer than `timeoutMs`. */
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

/** Told to a body that nobody waits for any more. */
const abandoned = new Error('the exchange has ended')
