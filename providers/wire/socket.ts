/** The port of a vendor's sockets, and the rules of its warm sockets. */
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'

/** The address of a vendor's socket. Requests with equal targets may use the same warm sockets. */
export type SocketTarget = {
  /** Path and query, after the path of the base URL. */
  path: string
  headers?: readonly string[]
  protocols?: readonly string[]
}

/** A message that keeps a socket open, and how often it is due. */
export type KeepAlive = { text: string; everyMs: number }

/** The vendor's rules for a warm socket. */
export type WarmRules = {
  /** Null: the vendor needs no keep-alive before the first use, or takes none. */
  keepAlive: KeepAlive | null
  /** How long a socket may wait: shorter than the vendor's limit, 0 where an idle socket is billed. */
  idleMsMax: number
}

/**
 * `hit`: a warm socket was ready. `miss`: the request waited for the handshake. `stale`: a warm socket ended before
 * its first use.
 */
export type WarmOutcome = 'hit' | 'miss' | 'stale'

export interface SocketTransport {
  /**
   * Resolves with an open socket; rejects with ProviderError. `signal` ends the opening, not the socket. A warm
   * socket that ends before its first answer is replaced without notice: the same messages are sent again, and a
   * vendor that greets may greet twice.
   */
  open(apiKey: string | null, target: SocketTarget, signal: CancelSignal): Promise<OutboundSocket>
  /** Closes the warm sockets. A socket that `open` has returned is closed by the calling code. */
  close(): Promise<void>
}

/** Opens a socket now. Rejects with ProviderError. */
export type Dial = SocketTransport['open']
