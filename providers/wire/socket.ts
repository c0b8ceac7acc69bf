/** Sockets to one vendor, opened when they are needed or, where it pays, ahead of that. */
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { openSocket } from '../../runtime/outbound/open-socket.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import { UpgradeRefused } from '../../runtime/outbound/upgrade.ts'
import { toProviderError } from './failures.ts'
import { refusal, type VendorWire } from './http.ts'
import { WarmRoutes } from './warm-routes.ts'

/** What one socket is opened for. Equal routes may share a socket that was opened ahead. */
export type SocketRoute = {
  /** Path and query, after the path of the base URL. */
  path: string
  headers?: readonly string[]
  protocols?: readonly string[]
}

/** What keeps a socket that nobody uses yet alive, by the vendor's own rules. */
export type Standby = {
  /** Sent each so often; null: the vendor needs nothing, or takes nothing, before the first use. */
  keepAlive: { text: string; everyMs: number } | null
  /** How long a socket may wait: shorter than the vendor's own limit, 0 where an idle socket is billed. */
  idleMsMax: number
}

/** `hit`: one was there. `miss`: the caller waited for the handshake. `stale`: one that was opened ahead ended before it was of use. */
export type WarmOutcome = 'hit' | 'miss' | 'stale'

export type SocketTransportOptions = {
  /** http(s) or ws(s), with the path that all routes share. */
  baseUrl: string
  wire: VendorWire
  limits: OutboundLimits
  clock: Clock
  /** Absent: sockets of this vendor are opened when they are needed, and never ahead. */
  standby?: Standby
  /** Hears of every opening of a vendor whose sockets may wait. */
  observeWarm?: (outcome: WarmOutcome) => void
}

export interface SocketTransport {
  /**
   * A socket that is open. Rejects with ProviderError. `signal` ends the opening, not the socket. One that had been opened ahead and ends
   * before its first answer is replaced unseen: what was sent is sent again, and a vendor that greets may greet twice.
   */
  open(apiKey: string | null, route: SocketRoute, signal: CancelSignal): Promise<OutboundSocket>
  /** Closes those that wait. Whoever has been given a socket closes it. */
  close(): Promise<void>
}

/** Opens one now. Rejects with ProviderError. */
export type Dial = SocketTransport['open']

/** Throws TypeError when the base URL is none. */
export function createSocketTransport(options: SocketTransportOptions): SocketTransport {
  const { limits, standby, clock, observeWarm } = options
  const dial = createDial(options)
  if (!standby || standby.idleMsMax === 0 || limits.warmSockets.perRoute === 0)
    return { open: dial, close: () => Promise.resolve() }
  return new WarmRoutes({ dial, standby, bounds: limits.warmSockets, clock, observe: observeWarm ?? (() => {}) })
}

function createDial({ baseUrl, wire, limits }: SocketTransportOptions): Dial {
  const base = new URL(baseUrl)
  // A URL does not let its scheme be changed from one kind to the other.
  const origin = `${base.protocol === 'https:' || base.protocol === 'wss:' ? 'wss' : 'ws'}://${base.host}`
  const prefix = base.pathname.replace(/\/+$/, '')
  const { connectMs, firstByteMs, frameBytesMax, bufferedBytesMax } = limits
  return async (apiKey, { path, headers = [], protocols = [] }, signal) => {
    try {
      return await openSocket({
        url: `${origin}${prefix}${withQuery(path, base.search)}`,
        headers: apiKey === null ? headers : [...wire.sign(apiKey), ...headers],
        protocols,
        connectMs,
        openMs: firstByteMs,
        frameBytesMax,
        bufferedBytesMax,
        signal,
      })
    } catch (error) {
      throw error instanceof UpgradeRefused ? refusal(error.answer, wire, apiKey) : toProviderError(error)
    }
  }
}

const withQuery = (path: string, search: string) => path + (path.includes('?') ? search.replace('?', '&') : search)
