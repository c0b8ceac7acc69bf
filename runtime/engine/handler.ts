import type { CancelSignal } from './cancel-signal.ts'

/** What the engine hands to a handler and takes back from it. Generated handler interfaces narrow these types operation by operation. */

/** A body or part that stays bytes: the chunks as they arrived, never joined, held in bounded memory until the exchange ends. */
export type Bytes = { chunks: readonly Uint8Array[]; bytes: number; contentType: string }

export type Input = {
  path: Record<string, string>
  query: Record<string, unknown>
  /** Lower-case names; only what the operation declares. */
  header: Record<string, unknown>
  /** JSON value, Bytes, or for multipart one of these per part name. */
  body: unknown
}

/** Where a request came from, for what is meant for this machine alone. Header values are as they were sent, '' where they are absent. */
export type Peer = {
  /** IP address of the other end of the connection: a proxy's, where there is one. */
  address: string
  host: string
  origin: string
  /** Sent by proxies for somebody else; whoever trusts `address` refuses where this is set. */
  forwardedFor: string
}

export type Context<Caller = unknown> = {
  requestId: string
  /** Whoever the auth hook answered; null on operations without a key. */
  caller: Caller
  operation: string
  /** Hex SHA-256 of the content: the raw body bytes, or the decoded part payloads in part order. Null without a body. */
  readonly contentHash: string | null
  /** The `Accept` header as it was sent; '' without one. */
  accept: string
  /** Aborted when the client has gone or the server is forced to stop. */
  readonly signal: CancelSignal
  /** Clock.monotonicMs() when the request line was read. */
  startedMs: number
  readonly peer: Peer
}

export type ServerSentEvent = {
  event?: string
  data: unknown /** Written as it stands instead of JSON (for `[DONE]`). */
  raw?: string
}

export type Result = {
  status: number
  /** Needed only where the status has several media types. */
  type?: string
  /** Names as the spec spells them; only declared ones are written. */
  headers?: Record<string, string | number | undefined>
  /** JSON value; Uint8Array; an iterable of bytes; for text/event-stream an iterable of events. */
  body?: unknown
}

export type Handler = (input: Input, context: Context) => Result | Promise<Result>
export type Handlers = Readonly<Record<string, Handler>>

/** What a surface answers instead of a result: its own envelope. Made by the surface's fault writer, also for the engine's own refusals. */
export type FaultAnswer = { status: number; headers: Record<string, string>; body: string }
export type FaultWriter = (error: unknown, requestId: string) => FaultAnswer

/** Refusals of the engine, and of a handler whose request breaks its contract. The surface's fault writer turns each into its own code. */
export type RefusalKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'foreign_origin'
  | 'invalid_parameter'
  | 'malformed_body'
  | 'payload_too_large'
  | 'unsupported_media'
  | 'not_found'
  | 'method_not_allowed'
  | 'rate_limited'
  | 'overloaded'
  | 'request_timeout'

export class Refusal extends Error {
  readonly kind: RefusalKind
  readonly detail: {
    param?: string
    message?: string
    hint?: string
    /** What the schema asks for at `param`. */
    keyword?: string
    retryAfterS?: number
    allow?: string
  }

  constructor(
    kind: RefusalKind,
    detail: {
      param?: string
      message?: string
      hint?: string
      keyword?: string
      retryAfterS?: number
      allow?: string
      cause?: unknown
    } = {},
  ) {
    super(detail.message ?? kind, { cause: detail.cause })
    this.name = 'Refusal'
    this.kind = kind
    this.detail = detail
  }
}
