/** A WebSocket to another server. It is limited in both directions and guarded like every outbound connection. */
import type { CancelSignal } from '../engine/cancel-signal.ts'
import type { AddressPolicy } from './address-guard.ts'

export type OutboundSocketOptions = {
  /** ws: or wss:, with path and query. */
  url: string
  /** Names and values in alternation. */
  headers: readonly string[]
  protocols: readonly string[]
  /** The longest time from the first packet to the connection, TLS included. */
  connectMs: number
  /** The longest time from the connection to the upgrade. */
  openMs: number
  /** A message larger than this ends the socket. */
  frameBytesMax: number
  /** If more bytes wait to be written, the socket is cut. */
  bufferedBytesMax: number
  /** Absent for URLs from the operator's configuration. Set for a URL from a user. */
  guard?: AddressPolicy
  signal?: CancelSignal
}

/** Calls come in order, and `closed` is the last. No callback may throw. */
export interface OutboundSocketListener {
  text(text: string): void
  /** Called for a binary message. The listener may keep the bytes. */
  binary(bytes: Uint8Array): void
  /**
   * Called when the socket has ended, with the code of RFC 6455 §7.4: 1006 if the socket was cut, 1005 for a close
   * without a code. If our limit or an invalid frame ended the socket, the code is 1009 or 1002 and the reason begins
   * with `local:`.
   */
  closed(code: number, reason: string): void
}

/** The close reason if the server reads too slowly for the bytes sent. */
export const unreadReason = 'local: the server does not read'

export interface OutboundSocket {
  /**
   * Sets the listener, which also gets all earlier frames. It is first called after the synchronous part of the calling
   * code. May be called once.
   */
  listen(listener: OutboundSocketListener): void
  /** Sends a text or binary message. Does nothing once the socket has ended. Bytes are copied. */
  send(data: string | Uint8Array): void
  readonly bufferedBytes: number
  readonly isOpen: boolean
  /** Sends a close frame and cuts the connection after a grace of 2 s. The listener gets no more calls. Idempotent. */
  close(): void
}
