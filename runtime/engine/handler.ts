import type { CancelSignal } from './cancel-signal.ts'
import type { LogFields, Trace } from './trace-context.ts'

/** The arguments and results of handlers. Generated handler interfaces narrow these types operation by operation. */

/**
 * A body or part as bytes: the chunks as they arrived, never joined, held in bounded memory until the exchange ends.
 */
export type Bytes = { chunks: readonly Uint8Array[]; bytes: number; contentType: string }

export type Input = {
  path: Record<string, string>
  query: Record<string, unknown>
  /** The headers that the operation declares, by their names in lower case. */
  header: Record<string, unknown>
  /** A JSON value or Bytes. For multipart: a record with one such value per part name. */
  body: unknown
}

/**
 * The sender of a request. Some operations accept only requests from this machine or from web pages that this server
 * delivers. Header values are as they were sent, '' if absent.
 */
export type Peer = {
  /** The IP address at the connection's other end, which is a proxy if there is one. */
  address: string
  /**
   * The client's IP address, as the quota counts it: trusted proxies are skipped, and for IPv6 only the first 64 bits
   * count.
   */
  source: string
  userAgent: string
  /** True if the credential came as a cookie. */
  usesCookie: boolean
  host: string
  origin: string
  cookie: string
  /** The value of the header Sec-Fetch-Site. */
  fetchSite: string
  /** True if a proxy has forwarded the request. A handler that trusts `address` must refuse such a request. */
  isForwarded: boolean
  /**
   * The client's host and scheme, as reported by a proxy. A handler must ignore them unless `address` is a trusted
   * proxy.
   */
  forwardedHost: string
  forwardedProto: string
}

export type Context<Caller = unknown> = {
  requestId: string
  /** The result of `authenticate`; null on operations without a key. */
  caller: Caller
  operation: string
  /**
   * Hex SHA-256 over the content: the raw body bytes, or the decoded part payloads in part order. Null without a body.
   */
  readonly contentHash: string | null
  /**
   * The body exactly as it was sent, for signatures over its bytes. Null unless the operation declares `x-raw-body`.
   */
  readonly rawBody: Uint8Array | null
  /** The `Accept` header as it was sent; '' without one. */
  accept: string
  /** Aborted when the client has disconnected or the server is forced to stop. */
  readonly signal: CancelSignal
  /** The monotonic time when the request line was read. */
  startedMs: number
  readonly peer: Peer
  /** The request's span context. Null: the request is not traced. */
  readonly trace: Trace | null
  /** Fields to add to this request's log line. */
  readonly logFields: LogFields
}

export type ServerSentEvent = {
  event?: string
  /** Replaces the event's number as the event's id. */
  id?: string
  data: unknown
  /** If set, this text is written unchanged, instead of `data` as JSON. Used for `[DONE]`. */
  raw?: string
}

export type Result = {
  status: number
  /** The body's media type. Needed only if the operation declares several media types for this status. */
  type?: string
  /**
   * Names in the spec's spelling. Only declared headers are written. `Content-Length` gives the length for a body in
   * pieces; if the body's length differs, the connection is closed before the response is complete. A list is written
   * as one line for each value, as Set-Cookie needs it.
   */
  headers?: Record<string, string | number | readonly string[] | undefined>
  /** A JSON value, a Uint8Array, or an iterable of byte chunks. For text/event-stream: an iterable of events. */
  body?: unknown
  /** Set if the body breaks the contract on purpose. Tests and development then do not check it. */
  isUnchecked?: true
}

export type Handler = (input: Input, context: Context) => Result | Promise<Result>
export type Handlers = Readonly<Record<string, Handler>>

/**
 * The HTTP response for an error, with the called API's form of error body. The API's fault writer makes it, for the
 * engine's refusals too.
 */
export type FaultAnswer = { status: number; headers: Record<string, string>; body: string }
/** Makes an API's HTTP response for an error. `logFields` are added to the error's log line. */
export type FaultWriter = (error: unknown, requestId: string, logFields?: Readonly<LogFields>) => FaultAnswer

/**
 * Refusals by the HTTP engine, or by a handler if the request breaks its contract. The API's fault writer translates
 * each kind into the API's error code.
 */
export type RefusalKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'disabled'
  | 'foreign_origin'
  | 'invalid_parameter'
  | 'malformed_body'
  | 'socket_expected'
  | 'payload_too_large'
  | 'unsupported_media'
  | 'not_found'
  | 'method_not_allowed'
  | 'rate_limited'
  | 'overloaded'
  | 'request_timeout'

/** One violation in a request: its path, and the broken schema rule in `keyword`. */
export type Issue = { path: string; message: string; keyword: string }

type RefusalDetail = {
  param?: string
  message?: string
  hint?: string
  /** The schema rule that the parameter `param` breaks. */
  keyword?: string
  /** All violations, starting with the violation at `param`. Absent if the validator stops at the first violation. */
  issues?: readonly Issue[]
  retryAfterS?: number
  allow?: string
}

export class Refusal extends Error {
  readonly kind: RefusalKind
  readonly detail: RefusalDetail

  constructor(kind: RefusalKind, detail: RefusalDetail & { cause?: unknown } = {}) {
    super(detail.message ?? kind, { cause: detail.cause })
    this.name = 'Refusal'
    this.kind = kind
    this.detail = detail
  }
}
