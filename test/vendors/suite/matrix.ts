/**
 * The ways in which a vendor fails, each with the class that every adapter must make of it. A stub plays them all; one suite for each port asks for
 * them all. The vendor's own SDK goes first against the stub, so that the stub is known to be fair.
 */
import type { ErrorClass } from '../../../domain/ports/provider-error.ts'

export const cells = {
  ok: null,
  /** The first byte of media comes late, but in time: a header, a role or a ping comes at once and must not count. */
  slow_first_byte: null,
  /** Accepts and says nothing. */
  hang: 'timeout',
  /** Nobody listens at the address. */
  refuse: 'unreachable',
  auth: 'auth',
  quota: 'quota',
  /** 429 with Retry-After: 7, or the vendor's own form of it. */
  rate_limited: 'rate_limited',
  /** The same without a time. */
  rate_limited_bare: 'rate_limited',
  overloaded: 'overloaded',
  server: 'server',
  bad_request: 'bad_request',
  /** Accepted and closed cleanly, with nothing where something was due. */
  empty: 'empty',
  /** A header, a role or an empty frame, and then a clean end. */
  header_only: 'empty',
  /** A clean close of the connection in the middle, without the vendor's terminal mark. */
  cut: 'protocol',
  /** RST in the middle. */
  reset: 'protocol',
  /** The vendor's own error, in the middle of a good answer: of its overload, where the vendor has a word for that. */
  error_mid: 'overloaded',
  /** What is no JSON where JSON is due. */
  garbage: 'protocol',
  /** Chunks that are not aligned to samples. */
  half_sample: null,
} as const satisfies Record<string, ErrorClass | null>

export type Cell = keyof typeof cells

/** One vendor on 127.0.0.1: HTTP and sockets on one port. */
export interface VendorStub {
  /** http://127.0.0.1:port, without a path. */
  readonly url: string
  /** What every request from now on gets. */
  behave(cell: Cell): void
  /** The requests since the last `behave`: method, path with query, headers, and the body or what came on the socket (text as it stands, audio joined). */
  readonly seen: SeenRequest[]
  /** Connections that are open now: an adapter leaves none behind that it does not pool. */
  readonly openSockets: number
  /** Connections that ended since the last `behave`: a call that its caller left takes its connection along. */
  readonly endedSockets: number
  close(): Promise<void>
}

export type SeenRequest = {
  method: string
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** Of a socket; empty otherwise. */
  texts: string[]
  /** Of a socket: all binary frames, joined. */
  audio: Buffer
}
