import type { SocketMount } from '../ws/routes.ts'
import type { FaultWriter, Handlers } from './handler.ts'
import type { Surface } from './operation.ts'

export type Mount = {
  surface: Surface
  /** '' or '/router'. */
  basePath: string
  /** A host name of its own, lower case without a port; null answers at every host that no other mount has. */
  host: string | null
  handlers: Handlers
  writeFault: FaultWriter
  /** Origins whose pages may read answers, exactly as a browser sends them. */
  corsOrigins: readonly string[]
  /** Whether requests count against the edge quota. */
  quota: boolean
  /** Health: answered at every host, while draining and when overloaded too, and not logged. */
  health: boolean
}

export type Limits = {
  jsonBytesMax: number
  audioBytesMax: number
  /** Bodies in memory, over all requests. */
  uploadMemoryBytesMax: number
  /** Requests in flight from one address. HTTP/1.1 has one a connection, so this bounds busy connections; idle ones end after 10 s. */
  connectionsPerIpMax: number
  /** A body that makes no progress for this long is refused. */
  bodyTimeoutMs: number
  /** The longest that a whole body may take on the upload port. */
  uploadBodyTimeoutMs: number
  /** The longest wait for a client to take what was written. */
  readerTimeoutMs: number
  /** Requests in flight; more are refused as overloaded. */
  requestsMax: number
  /** Open sockets; more are refused as overloaded. */
  socketsMax: number
  /** A larger frame ends its socket without a close frame (1006). */
  frameBytesMax: number
  /** Written to a socket and not taken by its reader; more ends it. */
  socketBufferBytesMax: number
  /** A socket silent for this long, pings included, is cut: 8 to 960. */
  pingS: number
}

export type EdgeQuotaOptions = {
  /** 0 is no quota and no RateLimit headers. */
  requests: number
  /** How many instances share the quota now: each allows its part of it. Absent: this one alone. */
  instances?: () => number
  windowS: number
  /** CIDR ranges whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[]
  /** Addresses remembered in one window; the oldest is forgotten first. */
  addressesMax: number
}

export type Clock = {
  monotonicMs(): number
  after(delayMs: number, run: () => void): () => void
}

export type Log = {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Called once an exchange; `operation` is '' where no operation was found, `status` 499 when the client left before an answer. */
export type RequestMetrics = {
  request(operation: string, status: number, durationMs: number): void
  inflight(count: number): void
}

export type SocketMetrics = {
  socketOpened(channel: string): void
  /** `code` is the close code as RFC 6455 has it: 1006 for a socket that was cut. */
  socketClosed(channel: string, code: number): void
}

export type RequestTracing = {
  /** `route` is the OpenAPI template; what is answered ends the span. */
  start(operation: string, method: string, route: string, traceparent: string): (status: number) => void
}

export type ServerOptions = {
  host: string
  /** 0: the system chooses. */
  port: number
  /** Several processes on one port: the kernel shares connections out. */
  sharedPort: boolean
  /** A second listener for uploads over uplinks that uWebSockets.js would cut; null is none. */
  uploadPort: number | null
  region: string
  /** Replaces `Service` in header names. */
  headerPrefix: string
  mounts: readonly Mount[]
  sockets: readonly SocketMount[]
  /** Conformance suites: a WebSocket at `/` that sends back what it gets. Only with a loopback `host`. */
  echo: boolean
  /** The caller, or a promise of it. Throws Refusal `unauthenticated` or `forbidden`. `authorization` is '' when the header is absent. */
  authenticate(authorization: string, scope: string): unknown
  requestId(): string
  limits: Limits
  edgeQuota: EdgeQuotaOptions
  drain: {
    /** How long new requests are still answered, with 503, so that a load balancer notices. */
    lbDelayMs: number
    /** How long requests in flight may go on. */
    graceMs: number
  }
  clock: Clock
  log: Log
  metrics: RequestMetrics & SocketMetrics
  tracing: RequestTracing | null
  /** Tests and development: JSON answers are checked against the contract, and a wrong one becomes a 500. */
  checkResponses: boolean
}
