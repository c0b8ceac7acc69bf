import type { SocketSurface } from './channel.ts'
import type { FaultWriter, Handlers } from './handler.ts'
import type { Surface } from './operation.ts'
import type { AdmitSocket, SocketHandlers } from './socket.ts'
import type { LogFields, Trace } from './trace-context.ts'

/** uWebSockets.js, or node:http with ws. */
export type EngineName = 'uws' | 'node'

export type Mount = {
  surface: Surface
  /** '' or '/router'. */
  basePath: string
  /** A host that serves only this mount, lower case without a port; null answers at every host that no other mount has. */
  host: string | null
  handlers: Handlers
  writeFault: FaultWriter
  /** Origins whose pages may read answers, exactly as a browser sends them. */
  corsOrigins: readonly string[]
  /** Whether requests count against the edge quota. */
  quota: boolean
  /** Health is answered at every host, also while draining and when overloaded, and is not logged. */
  health: boolean
}

export type SocketMount = {
  surface: SocketSurface
  /** '' or '/realtime'. */
  basePath: string
  /** The same as `host` of a Mount. */
  host: string | null
  handlers: SocketHandlers
  admit: AdmitSocket
  /** False: opening a socket does not count against the edge quota. */
  quota?: false
  writeFault: FaultWriter
}

/** The names are those of the configuration. */
export type Limits = {
  jsonBytesMax: number
  /** The same where no key is needed: anybody may send such a body. */
  keylessBytesMax: number
  audioBytesMax: number
  /** Bytes of bodies in memory, over all requests. */
  uploadMemory: number
  /**
   * Requests in flight from one address. HTTP/1.1 has one on each connection, so this bounds busy connections. Idle
   * ones end after 10 s.
   */
  connectionsPerAddressMax: number
  /** A body that makes no progress for this long is refused. */
  bodyTimeoutMs: number
  /** The longest that a whole body may take on the upload port. */
  uploadBodyTimeoutMs: number
  /** The longest wait for a client to read what was written. */
  readerTimeoutMs: number
  /** Requests in flight; more are refused as overloaded. */
  requestsMax: number
  /** Open sockets; more are refused as overloaded. */
  socketsMax: number
  /** A larger frame ends its socket without a close frame (1006). */
  frameBytesMax: number
  /** Bytes that were written to a socket and not taken by its reader. More ends the socket. */
  bufferBytesMax: number
  /** A socket silent for this long, pings included, is cut: 8 to 960. */
  pingS: number
}

export type EdgeQuotaOptions = {
  /** 0 is no quota and no RateLimit headers. */
  requests: number
  /** How many instances share the quota now: each allows its part of it. Absent: this one alone. */
  instances?: () => number
  /** Counts for all instances together. Absent or away: `instances` divides the quota. */
  shared?: SharedCounts | null
  windowS: number
  /** CIDR ranges whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[]
  /** Addresses remembered in one window. The oldest is forgotten first. */
  addressesMax: number
}

export type SharedCounts = {
  /** Adds what this instance has counted in a window, and answers the sums over all instances. */
  add(window: number, windowMs: number, counts: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>>
}

export type Clock = {
  /** Wall time: the same in all processes of a deployment. */
  nowMs(): number
  /** Counts from the start of the process. For durations. */
  monotonicMs(): number
  after(delayMs: number, run: () => void): () => void
}

export type Log = {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * Called once for each exchange. `operation` is '' where no operation was found; `status` is 499 when the client left
 * before an answer.
 */
export type RequestMetrics = {
  request(operation: string, status: number, durationMs: number): void
  inflight(count: number): void
}

export type SocketMetrics = {
  socketOpened(channel: string): void
  /** `code` is the close code of RFC 6455: 1006 for a socket that was cut. */
  socketClosed(channel: string, code: number): void
}

/** The place of a request in a trace. Each argument is '' when the client sent no such header. */
export type RequestTracing = {
  request(traceparent: string, tracestate: string): Trace
}

export type RelaySettings = {
  dataDir: string
  /** The name of this process, under which the others reach it. */
  name: string
  /** Sockets that this process relays at a time, and as many that it serves for others. */
  socketsMax: number
}

/** The headers of a request that say who sent it and from which page. Each is '' when it is absent. */
export type Credentials = {
  authorization: string
  cookie: string
  /** Sec-Fetch-Site. */
  fetchSite: string
  origin: string
  host: string
}

export type ServerOptions = {
  engine: EngineName
  host: string
  /** 0 lets the system choose. */
  port: number
  /** Whether several processes listen on the port. The first one opens it, and the others join. */
  sharedPort: 'no' | 'opens' | 'joins'
  /** A second listener for uploads over uplinks that uWebSockets.js would cut. Null opens none. */
  uploadPort: number | null
  region: string
  /** Replaces `Service` in header names. */
  headerPrefix: string
  mounts: readonly Mount[]
  sockets: readonly SocketMount[]
  /** Relays sockets to other processes that share a data folder. Null: there is no data folder. */
  relay: RelaySettings | null
  /** For conformance suites: a WebSocket at `/` that returns every message. Only with a loopback `host`. */
  echo: boolean
  /**
   * The caller, or a promise of it. Throws Refusal `unauthenticated` or `forbidden`, or a fault of the surface where the
   * caller may not use the operation. It sets the fields that name the caller in the log.
   */
  authenticate(credentials: Credentials, scope: string, operationId: string, logFields: LogFields): unknown
  requestId(): string
  limits: Limits
  edgeQuota: EdgeQuotaOptions
  drain: {
    /** Everything is still served for this long, so that a load balancer notices. */
    lbDelayMs: number
    /** After that, requests and sockets may go on for this long. */
    graceMs: number
    /** While some of them are worth more time: how long that may be in all. Absent: none is. */
    extension?: { ms: number; isNeeded(): boolean }
  }
  clock: Clock
  log: Log
  metrics: RequestMetrics & SocketMetrics
  tracing: RequestTracing | null
}
