/** A WebSocket to another server: bounded both ways, guarded like every outbound connection. */
import type { CancelSignal } from '../engine/cancel-signal.ts'
import type { AddressPolicy } from './address-guard.ts'

export type OutboundSocketOptions = {
  /** ws: or wss:, with path and query. */
  url: string
  /** Names and values in turn. */
  headers: readonly string[]
  protocols: readonly string[]
  /** From the first packet to the connection, TLS included. */
  connectMs: number
  /** From the connection to the upgrade. */
  openMs: number
  /** A larger message ends the socket. */
  frameBytesMax: number
  /** Bytes waiting to be written at which the socket is given up. */
  bufferedBytesMax: number
  /** Absent for what the operator configured; set for a URL that a user gave. */
  guard?: AddressPolicy
  signal?: CancelSignal
}

/** Calls come in order; `closed` is the last. None may throw. */
export interface OutboundSocketListener {
  text(text: string): void
  /** The bytes are the listener's. */
  binary(bytes: Uint8Array): void
  /**
   * RFC 6455 §7.4; 1006 for a socket that was cut, 1005 for a close without a code. Where one of our own bounds ended it, or frames that
   * are none, the code is 1009 or 1002 and the reason begins with `local:`.
   */
  closed(code: number, reason: string): void
}

export interface OutboundSocket {
  /** Who hears what comes from now on, and what came before; nothing is told before the caller's own turn is over. To be set once. */
  listen(listener: OutboundSocketListener): void
  /** Ignored once the socket has ended. Bytes are copied. */
  send(data: string | Uint8Array): void
  readonly bufferedBytes: number
  readonly isOpen: boolean
  /** Says goodbye and, after a grace of 2 s, cuts. Nothing is told to the listener any more. Idempotent. */
  close(): void
}
