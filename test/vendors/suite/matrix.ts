/**
 * The ways in which a vendor fails, each with the class that every adapter must give it. A stub plays all of them,
 * and the suite of each port runs all of them. The vendor's SDK is tested against the stub first, which shows that
 * the stub behaves like the vendor.
 */
import type { ErrorClass } from '../../../domain/ports/provider-error.ts'

export const cells = {
  ok: null,
  /** The first byte of media comes late, but in time: a header, a role or a ping comes at once and must not count. */
  slow_first_byte: null,
  /** The vendor accepts and sends nothing. */
  hang: 'timeout',
  /** No server listens at the address. */
  refuse: 'unreachable',
  auth: 'auth',
  quota: 'quota',
  /** 429 with Retry-After: 7, or the vendor's form of it. */
  rate_limited: 'rate_limited',
  /** 429 without a time. */
  rate_limited_bare: 'rate_limited',
  overloaded: 'overloaded',
  server: 'server',
  bad_request: 'bad_request',
  /** The vendor accepts and closes cleanly, without the content that is due. */
  empty: 'empty',
  /** A header, a role or an empty frame, and then a clean end. */
  header_only: 'empty',
  /** A clean close of the connection in the middle, without the vendor's terminal event. */
  cut: 'protocol',
  /** A TCP reset in the middle. */
  reset: 'protocol',
  /** An error event of the vendor in the middle of a good answer: overload, where the vendor has a code for that. */
  error_mid: 'overloaded',
  /** Text that is not JSON where JSON is due. */
  garbage: 'protocol',
  /** Chunks that are not aligned to samples. */
  half_sample: null,
} as const satisfies Record<string, ErrorClass | null>

export type Cell = keyof typeof cells

/** One vendor on 127.0.0.1: HTTP and sockets on one port. */
export interface VendorStub {
  /** http://127.0.0.1:port, without a path. */
  readonly url: string
  /** Sets the cell that every request gets from now on. */
  behave(cell: Cell): void
  /**
   * The requests since the last `behave`: method, path with query, headers, and the body or the socket's messages
   * (text as it came, audio joined).
   */
  readonly seen: SeenRequest[]
  /** The number of open connections: an adapter leaves only those open that it pools. */
  readonly openSockets: number
  /** The number of connections that ended since the last `behave`: a cancelled attempt ends its connection. */
  readonly endedSockets: number
  close(): Promise<void>
}

export type SeenRequest = {
  method: string
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** The texts of a socket; empty for a request. */
  texts: string[]
  /** All binary frames of a socket, joined. */
  audio: Buffer
}
