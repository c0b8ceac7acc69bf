import type { CancelSignal } from './cancel-signal.ts'
import type { LogFields, Trace } from './trace-context.ts'

/** The arguments and results of handlers. Generated handler interfaces narrow these types operation by operation. */

/**
 * A body or part that stays bytes: the chunks as they arrived, never joined, held in bounded memory until the exchange
 * ends.
 */
export type Bytes = { chunks: readonly Uint8Array[]; bytes: number; contentType: string }

export type Input = {
  path: Record<string, string>
  query: Record<string, unknown>
  /** Lower-case names; only what the operation declares. */
  header: Record<string, unknown>
  /** JSON value, Bytes, or for multipart one of these per part name. */
  body: unknown
}

/**
 * The origin of a request, for operations that are meant for this machine alone. Header values are as they were sent,
 * '' where absent.
 */
export type Peer = {
  /** IP address of the other end of the connection, which is a proxy where there is one. */
  address: string
  host: string
  origin: string
  /** A proxy has passed the request on. A handler that trusts `address` must refuse such a request. */
  isForwarded: boolean
  /** The host and the scheme that the client used, as a proxy says. Believed only of a trusted proxy. */
  forwardedHost: string
  forwardedProto: string
}

export type Context<Caller = unknown> = {
  requestId: string
  /** The result of `authenticate`; null on operations without a key. */
  caller: Caller
  operation: string
  /** Hex SHA-256 of the content: the raw body bytes, or the decoded part payloads in part order. Null without a body. */
  readonly contentHash: string | null
  /**
   * The body exactly as it was sent, where the operation asks for it (`x-raw-body`); else null. For signatures over the
   * bytes.
   */
  readonly rawBody: Uint8Array | null
  /** The `Accept` header as it was sent; '' without one. */
  accept: string
  /** Aborted when the client has gone or the server is forced to stop. */
  readonly signal: CancelSignal
  /** Clock.monotonicMs() when the request line was read. */
  startedMs: number
  readonly peer: Peer
  /** Where the request is in a trace. Null: nobody traces it. */
  readonly trace: Trace | null
  /** Further fields of the line that the log has for this request. */
  readonly logFields: LogFields
}

export type ServerSentEvent = {
  event?: string
  /** Instead of the number of the event. */
  id?: string
  data: unknown
  /** Written as it stands instead of JSON (for `[DONE]`). */
  raw?: string
}

export type Result = {
  status: number
  /** Needed only where the status has several media types. */
  type?: string
  /**
   * Names as the spec spells them; only declared ones are written. `Content-Length` is that of a body that comes in pieces:
   * one that has another length is cut.
   */
  headers?: Record<string, string | number | undefined>
  /** JSON value; Uint8Array; an iterable of bytes; for text/event-stream an iterable of events. */
  body?: unknown
  /** The body has values that the contract lacks, on purpose: tests and development do not check it. */
  isUnchecked?: true
}

export type Handler = (input: Input, context: Context) => Result | Promise<Result>
export type Handlers = Readonly<Record<string, Handler>>

/**
 * The answer of a surface to an error, in its envelope. The surface's fault writer makes it, also for the engine's
 * refusals.
 */
export type FaultAnswer = { status: number; headers: Record<string, string>; body: string }
/** `logFields` are further fields for the line that the log has for the error. */
export type FaultWriter = (error: unknown, requestId: string, logFields?: Readonly<LogFields>) => FaultAnswer

/**
 * Refusals of the engine, and of a handler whose request breaks its contract. The surface's fault writer turns each
 * into its own code.
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

/** One place of a request that breaks its contract. `keyword` is the rule of the schema. */
export type Issue = { path: string; message: string; keyword: string }

type RefusalDetail = {
  param?: string
  message?: string
  hint?: string
  /** The rule of the schema that `param` breaks. */
  keyword?: string
  /** Every place that is wrong, `param` first, where the validator looked for all. */
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
