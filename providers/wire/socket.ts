/** The interface for opening a vendor's sockets, and the rules for warm sockets, opened in advance. */
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'

/** A socket's path and handshake headers. Requests with equal targets can use the same warm sockets. */
export type SocketTarget = {
  /** The path and query, appended to the base URL's path. */
  path: string
  headers?: readonly string[]
  protocols?: readonly string[]
}

/** A message to keep a socket open, and its interval. */
export type KeepAlive = { text: string; everyMs: number }

/** The vendor's rules for a warm socket. */
export type WarmRules = {
  /** The keep-alive for an unused socket. Null if the vendor needs or accepts no keep-alive before the first use. */
  keepAlive: KeepAlive | null
  /**
   * How long a socket may wait unused. Must be shorter than the vendor's idle limit, and 0 if the vendor bills idle
   * sockets.
   */
  idleMsMax: number
}

/**
 * `hit`: a warm socket was ready. `miss`: the request waited for the handshake. `stale`: a warm socket ended before
 * its first use.
 */
export type WarmOutcome = 'hit' | 'miss' | 'stale'

export interface SocketTransport {
  /**
   * Resolves with an open socket; rejects with ProviderError. `signal` cancels the opening but does not close an open
   * socket. If a warm socket ends before its first answer, it is replaced without notice: the same messages are sent
   * again over a new socket, so the vendor's greeting may arrive twice.
   */
  open(apiKey: string | null, target: SocketTarget, signal: CancelSignal): Promise<OutboundSocket>
  /** Closes the unused warm sockets. The calling code must close sockets returned by `open`. */
  close(): Promise<void>
}

/** Opens a socket now. Rejects with ProviderError. */
export type Dial = SocketTransport['open']
