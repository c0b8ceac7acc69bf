/** The port for a vendor's sockets, and the rules for its warm sockets. */
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'

/** A vendor socket's address and handshake headers. Requests with equal targets may use the same warm sockets. */
export type SocketTarget = {
  /** Path and query, after the path of the base URL. */
  path: string
  headers?: readonly string[]
  protocols?: readonly string[]
}

/** A message to keep a socket open, and its interval. */
export type KeepAlive = { text: string; everyMs: number }

/** The vendor's rules for a warm socket. */
export type WarmRules = {
  /** Null if the vendor needs no keep-alive before the first use, or accepts no keep-alive. */
  keepAlive: KeepAlive | null
  /** How long a socket may wait unused: shorter than the vendor's limit; 0 if the vendor bills idle sockets. */
  idleMsMax: number
}

/**
 * `hit`: a warm socket was ready. `miss`: the request waited for the handshake. `stale`: a warm socket ended before
 * its first use.
 */
export type WarmOutcome = 'hit' | 'miss' | 'stale'

export interface SocketTransport {
  /**
   * Resolves with an open socket; rejects with ProviderError. `signal` ends the opening, not the socket. If a warm
   * socket ends before its first answer, it is replaced unnoticed: the same messages are sent again over a new socket,
   * so the vendor's greeting may come twice.
   */
  open(apiKey: string | null, target: SocketTarget, signal: CancelSignal): Promise<OutboundSocket>
  /** Closes the warm sockets. The calling code closes sockets from `open`. */
  close(): Promise<void>
}

/** Opens a socket now. Rejects with ProviderError. */
export type Dial = SocketTransport['open']
