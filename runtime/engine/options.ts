import type { Shares } from '../shares/owners.ts'
import type { SocketSurface } from './channel.ts'
import type { Context, FaultWriter, Handlers } from './handler.ts'
import type { Access, Operation, Surface } from './operation.ts'
import type { AdmitSocket, SocketHandlers } from './socket.ts'
import type { Trace } from './trace-context.ts'

/** `uws` is uWebSockets.js. `node` is node:http with the package ws. */
export type EngineName = 'uws' | 'node'

export type Mount = {
  surface: Surface
  /** The path before all operations: '' or '/router'. */
  basePath: string
  /**
   * A host for this mount alone, lower case without a port. Null: the mount serves all hosts, except hosts with a
   * separate mount.
   */
  host: string | null
  handlers: Handlers
  writeFault: FaultWriter
  /** Origins whose pages may read responses, exactly as a browser sends them. */
  corsOrigins: readonly string[]
  quota: boolean
  /**
   * True for health checks. They are answered at every host, also while draining and when overloaded, and are not
   * logged.
   */
  health: boolean
}

export type SocketMount = {
  surface: SocketSurface
  /** The path before all channels: '' or '/realtime'. */
  basePath: string
  /** Null if the mount serves all hosts, except hosts with a separate mount. */
  host: string | null
  handlers: SocketHandlers
  admit: AdmitSocket
  /** If false, opening a socket does not count against the quota for each IP address (EdgeQuota). */
  quota?: false
  writeFault: FaultWriter
}

/** The server's limits. The names are the configuration's names. */
export type Limits = {
  jsonBytesMax: number
  /** The limit on JSON bodies for operations without an API key, because anybody may send such a body. */
  keylessBytesMax: number
  audioBytesMax: number
  /** The maximum number of bytes for all requests' bodies in memory together, divided among organizations. */
  uploadMemory: number
  /**
   * The maximum number of requests in flight from one IP address. An HTTP/1.1 connection has one request at a time, so
   * this bounds busy connections. Idle connections end after 10 s.
   */
  connectionsPerAddressMax: number
  /** The longest pause between two chunks of a request body. After a longer pause the body is refused. */
  bodyTimeoutMs: number
  /** The lowest speed of a body, in bytes a second. A slower body is refused. */
  bodyBytesPerSMin: number
  /** The longest time for a whole body on the upload port. */
  uploadBodyTimeoutMs: number
  /** The longest wait until a client reads the written bytes. */
  readerTimeoutMs: number
  /**
   * The maximum number of requests in flight, divided among organizations. Further requests are refused as overloaded.
   */
  requestsMax: number
  /** The maximum number of open sockets. Further sockets are refused as overloaded. */
  socketsMax: number
  /** A frame larger than this ends its socket without a close frame (1006). */
  frameBytesMax: number
  /** The maximum number of bytes written to a socket and not yet read. More bytes end the socket. */
  bufferBytesMax: number
  /**
   * Seconds, from 8 to 960. If a socket's client sends nothing for this long, not even a ping or pong, the socket is
   * cut.
   */
  pingS: number
}

export type EndBody = () => void

/** How the limits on requests and sockets are divided among organizations. */
export type RequestShares = Shares & {
  /** Returns the owner (an organization) for an authenticated client. */
  ownerOf(caller: unknown): string
  /**
   * Called before a body is read. Throws or rejects if the client may not begin this operation now. The returned
   * function is called when the request has ended. Null: there is nothing to call.
   */
  admitBody(caller: unknown, requestId: string, operation: Operation): EndBody | Promise<EndBody> | null
}

export type EdgeQuotaOptions = {
  /**
   * Requests from one IP address in a time window, for all instances together. 0: no quota and no RateLimit headers.
   */
  requests: number
  /** The number of instances to divide the quota by. Absent: 1. */
  instances?: () => number
  /**
   * Adds up the counts of all instances. If this is absent or fails, the quota is divided by the number of instances.
   */
  shared?: SharedCounts | null
  windowS: number
  /** IP addresses or CIDR ranges. Their X-Forwarded-For is trusted. */
  trustedProxies: readonly string[]
  /**
   * Called once, if a private address outside `trustedProxies` sends X-Forwarded-For. It is probably a proxy: all its
   * clients count as one IP address.
   */
  onUnnamedProxy?: (address: string) => void
  /** The maximum number of IP addresses counted in one window. If there are more, the oldest address is dropped. */
  addressesMax: number
}

export type SharedCounts = {
  /** Adds this instance's counts for a window, and resolves with the sums over all instances. */
  add(window: number, windowMs: number, counts: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>>
}

export type Clock = {
  /** Wall time, in milliseconds: the same in all processes of a deployment. */
  nowMs(): number
  /** Milliseconds since the start of the process, to measure durations. */
  monotonicMs(): number
  after(delayMs: number, run: () => void): () => void
}

export type Log = {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * `request` is called once for each exchange. `operation` is '' if no operation was found. `status` is 499 if the
 * client disconnected before the response began.
 */
export type RequestMetrics = {
  request(operation: string, status: number, durationMs: number): void
  inflight(count: number): void
}

export type SocketMetrics = {
  socketOpened(channel: string): void
  /** `code` is the close code of RFC 6455: 1006 if the socket was cut. */
  socketClosed(channel: string, code: number): void
}

/** Finds a request's span context in its headers. Each argument is '' if the client sent no such header. */
export type RequestTracing = {
  request(traceparent: string, tracestate: string): Trace
}

export type RelaySettings = {
  dataDir: string
  /** The name under which other processes reach this process. */
  name: string
  /** The limit for sockets that this process relays at a time, and for sockets that it serves for other processes. */
  socketsMax: number
}

/** The request headers with the sender's credentials and, from a browser, its page's origin. An absent header is ''. */
export type Credentials = {
  authorization: string
  cookie: string
  /** The value of the header Sec-Fetch-Site. */
  fetchSite: string
  origin: string
  host: string
}

/** The request whose credentials are checked. */
export type Sender = Pick<Context, 'requestId' | 'peer' | 'logFields'>

export type ServerOptions = {
  engine: EngineName
  host: string
  /** The value 0 lets the system choose the port. */
  port: number
  /** Several processes can share the port: the first process opens it, and the other processes join. */
  sharedPort: 'no' | 'opens' | 'joins'
  /**
   * The port for a second listener, for uploads over uplinks too slow for uWebSockets.js. Null opens no second
   * listener.
   */
  uploadPort: number | null
  region: string
  /** Replaces `Service` in header names. */
  headerPrefix: string
  mounts: readonly Mount[]
  sockets: readonly SocketMount[]
  /** Relays sockets to other processes with the same data folder. Null: there is no data folder. */
  relay: RelaySettings | null
  /** If true, a WebSocket at `/` returns every message, for conformance suites. Only with a loopback `host`. */
  echo: boolean
  /**
   * Returns the authenticated client or a promise for it. Throws Refusal `unauthenticated` or `forbidden`, or an API
   * fault if the client may not use the operation. It also names the client in the sender's log fields.
   */
  authenticate(credentials: Credentials, operation: Access & { id: string }, sender: Sender): unknown
  requestId(): string
  limits: Limits
  shares: RequestShares
  edgeQuota: EdgeQuotaOptions
  drain: {
    /** For this long after the drain begins everything is still served, so a load balancer can notice the drain. */
    lbDelayMs: number
    /** After `lbDelayMs`, requests and sockets may go on for this long. */
    graceMs: number
    /**
     * If `isNeeded`, requests and sockets may go on until `ms` after `lbDelayMs`, `graceMs` included. Absent: no
     * extension.
     */
    extension?: { ms: number; isNeeded(): boolean }
  }
  clock: Clock
  log: Log
  metrics: RequestMetrics & SocketMetrics
  tracing: RequestTracing | null
}
