import { EdgeQuota } from '../engine/edge-quota.ts'
import type { FaultAnswer } from '../engine/handler.ts'
import { type Head, renameHeader } from '../engine/head.ts'
import type { ServerOptions } from '../engine/options.ts'
import { type RelayClient, RelayedFault } from '../engine/relay/outgoing.ts'
import { passedTrace, type Trace } from '../engine/trace-context.ts'
import type { Transport } from '../engine/transport.ts'
import { Capacity } from '../shares/capacity.ts'
import { roundedMs } from '../telemetry/log.ts'
import { Roster } from '../timing/roster.ts'
import { TurnQueue } from '../timing/turn-queue.ts'
import { Watch } from '../timing/watch.ts'
import { SocketRoutes } from '../ws/routes.ts'
import { Sockets } from '../ws/sockets.ts'
import { HttpExchange, type RequestCapacity } from './http-exchange.ts'
import type { Receiver } from './receiver.ts'
import { Routes } from './routes.ts'

type Faulty = Pick<HttpExchange, 'mount' | 'requestId'> & Partial<Pick<HttpExchange, 'trace'>>

export type ServerState = 'starting' | 'ready' | 'draining' | 'ending' | 'stopped'

/** The state shared by all exchanges. Every exchange begins and ends here. */
export class Engine {
  readonly options: ServerOptions
  readonly routes: Routes
  readonly socketRoutes: SocketRoutes
  readonly sockets: Sockets
  readonly quota: EdgeQuota
  readonly capacity: RequestCapacity
  /**
   * Watches bodies until they are whole. Most bodies are whole within one event-loop turn, and a timer for each body
   * would cost more than all other work on the body.
   */
  readonly stalls: Watch<Receiver>
  readonly requestIdHeader: string
  readonly regionHeader: string
  state: ServerState = 'starting'
  /** Null if there is no relay to other processes. */
  relay: RelayClient | null = null
  /** If true, responses ask the client to close its connection. */
  asksToClose = false
  readonly #exchanges = new Roster<HttpExchange>()
  readonly #idleWaiters = new Set<() => void>()

  /**
   * Throws if a mount lacks a handler, two mounts serve the same path, or a trusted proxy is neither an address nor a
   * CIDR range.
   */
  constructor(options: ServerOptions) {
    const { mounts, sockets, headerPrefix, edgeQuota, limits, clock, shares } = options
    this.options = options
    this.routes = new Routes(mounts, headerPrefix)
    this.socketRoutes = new SocketRoutes(sockets, mounts, headerPrefix)
    this.sockets = new Sockets(options, () => this.#settleIdle())
    this.quota = new EdgeQuota(edgeQuota, limits.connectionsPerAddressMax)
    this.capacity = {
      requests: new Capacity({ max: limits.requestsMax, part: shares.part }, shares.owners),
      bodyBytes: new Capacity({ max: limits.uploadMemory, part: shares.part }, shares.owners),
    }
    const lateBodies = new TurnQueue<Receiver>(refusalsMax, (receiver) => receiver.refuseLate())
    this.stalls = new Watch(clock, Math.min(limits.bodyTimeoutMs / 4, lookEveryMsMax), (receiver, nowMs) => {
      if (!receiver.isLate(nowMs)) return
      this.stalls.delete(receiver)
      lateBodies.add(receiver)
    })
    this.requestIdHeader = renameHeader('Service-Request-ID', headerPrefix)
    this.regionHeader = renameHeader('Service-Region', headerPrefix)
  }

  /** True also during a drain, because requests still reach the server. */
  get isServing(): boolean {
    return this.state === 'ready' || this.state === 'draining'
  }

  get inflight(): number {
    return this.#exchanges.size
  }

  open(transport: Transport): HttpExchange {
    const { options } = this
    const exchange = new HttpExchange(transport, options.requestId(), options.clock.monotonicMs(), this.capacity)
    transport.onAborted(() => exchange.leave())
    this.#exchanges.add(exchange)
    options.metrics.inflight(this.#exchanges.size)
    return exchange
  }

  /** Finds the request's span context. Health checks are not traced. */
  trace(exchange: HttpExchange, head: Head): void {
    if (exchange.mount?.health) return
    exchange.trace = this.traceOf(head)
    if (exchange.trace) Object.assign(exchange.logFields, exchange.trace.logFields)
  }

  traceOf({ traceparent, tracestate }: Pick<Head, 'traceparent' | 'tracestate'>): Trace | null {
    const { tracing } = this.options
    return tracing ? tracing.request(traceparent, tracestate) : passedTrace(traceparent, tracestate)
  }

  /** Ends an exchange. Must be called once for each exchange, also after a failure. */
  close(exchange: HttpExchange): void {
    const { metrics, clock, log } = this.options
    this.#exchanges.delete(exchange)
    exchange.onGone = null
    exchange.receiver?.fail(abandoned)
    exchange.end()
    if (exchange.source !== null) this.quota.leave(exchange.source)
    const { requestId, operation, isGone, logFields } = exchange
    const status = exchange.status || 499
    const durationMs = clock.monotonicMs() - exchange.startedMs
    recordRequest(exchange, status)
    metrics.request(operation, status, durationMs)
    metrics.inflight(this.#exchanges.size)
    const fields = { requestId, operation, status, durationMs: roundedMs(durationMs), isGone, ...logFields }
    if (!exchange.mount?.health) log.info(fields, 'request')
    this.#settleIdle()
  }

  /** Makes the error response in the form of the request's API. Never throws. */
  faultAnswer({ mount, requestId, trace }: Faulty, error: unknown): FaultAnswer {
    if (error instanceof RelayedFault) return error.answer
    const { mounts, log } = this.options
    const surface = mount ?? mounts[0]
    try {
      if (surface) return surface.writeFault(error, requestId, trace?.logFields)
    } catch (cause) {
      log.error({ requestId, ...trace?.logFields, err: cause }, 'the fault could not be written')
    }
    return { status: 500, headers: {}, body: '{}' }
  }

  /** Aborts every request in flight. If a handler listens to its signal, its request ends with a fault. */
  abortAll(reason: Error): void {
    for (const exchange of this.#exchanges.all()) exchange.abort(reason)
  }

  /** Resolves with true once no request is in flight and no socket is open, or with false after `timeoutMs`. */
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

/** Records the request's span. If the exchange opened a socket, the socket's span replaces it: see sockets.ts. */
function recordRequest({ trace, endpoint, transport, startedMs, requestId }: HttpExchange, status: number): void {
  if (trace === null || status === 101) return
  const method = transport.method.toUpperCase()
  const route = endpoint?.operation.path
  trace.record({
    name: route === undefined ? method : `${method} ${route}`,
    kind: 'server',
    startedMs,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'parley.operation': endpoint?.operation.id,
      'parley.request.id': requestId,
    },
    ...(status >= 500 && { failure: String(status) }),
  })
}

/**
 * The longest interval between two searches for slow bodies. It is short so that few of thousands of slow bodies are
 * refused in one turn of the event loop.
 */
const lookEveryMsMax = 250

/** In one turn of the event loop, at most this many slow bodies are refused. A refusal takes about 0.1 ms. */
const refusalsMax = 20

/** The error for a body whose exchange has ended. */
const abandoned = new Error('the exchange has ended')
