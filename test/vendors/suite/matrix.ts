/**
 * The test cases (`Cell`): a vendor's failures, each with the error class that every adapter must give it. A stub plays
 * all test cases, and each port's suite runs them all. First the vendor's SDK is tested against the stub: if the SDK
 * understands it, the stub behaves like the vendor.
 */
import type { ErrorClass } from '../../../domain/ports/provider-error.ts'

export const cells = {
  ok: null,
  /** The first media byte comes late, but in time. A header, a role or a ping comes at once and must not count. */
  slow_first_byte: null,
  /** The vendor accepts the request and sends nothing. */
  hang: 'timeout',
  /** No server listens at the address. */
  refuse: 'unreachable',
  auth: 'auth',
  quota: 'quota',
  /** 429 with Retry-After: 7, or the vendor's own form. */
  rate_limited: 'rate_limited',
  /** 429 without a time. */
  rate_limited_bare: 'rate_limited',
  overloaded: 'overloaded',
  server: 'server',
  bad_request: 'bad_request',
  /** The vendor accepts the request and closes cleanly, without the expected content. */
  empty: 'empty',
  /** A header, a role or an empty frame, then a clean end. */
  header_only: 'empty',
  /** The connection closes cleanly in the middle of the answer, without the vendor's terminal event. */
  cut: 'protocol',
  /** A TCP reset in the middle of the answer. */
  reset: 'protocol',
  /** An error event in the middle of a good answer: overload, if the vendor has a code for it. */
  error_mid: 'overloaded',
  /** Other text in place of JSON. */
  garbage: 'protocol',
  /** Chunks not aligned to samples. */
  half_sample: null,
} as const satisfies Record<string, ErrorClass | null>

export type Cell = keyof typeof cells

/** One vendor on 127.0.0.1: HTTP and sockets on one port. */
export interface VendorStub {
  /** http://127.0.0.1:port, without a path. */
  readonly url: string
  /** Sets the test case for every request from now on. */
  behave(cell: Cell): void
  /**
   * The requests since the last `behave`: method, path with query, headers, and the body or the socket's messages (text
   * messages unchanged, audio joined).
   */
  readonly seen: SeenRequest[]
  /** The number of open connections. An adapter leaves only pooled connections open. */
  readonly openSockets: number
  /** The number of connections that ended since the last `behave`. Cancelling an attempt ends its connection. */
  readonly endedSockets: number
  close(): Promise<void>
}

export type SeenRequest = {
  method: string
  path: string
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** The socket's text messages. Empty for a request over HTTP. */
  texts: string[]
  /** All the socket's binary frames, joined. */
  audio: Buffer
}
