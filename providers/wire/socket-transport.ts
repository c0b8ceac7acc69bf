/** Opens WebSockets to one vendor, on demand or, if the vendor's rules allow, in advance ("warm"). */
import type { Clock } from '../../domain/ports/system.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { openSocket } from '../../runtime/outbound/open-socket.ts'
import { UpgradeRefused } from '../../runtime/outbound/upgrade.ts'
import { toProviderError } from './failures.ts'
import { refusal, type VendorWire } from './http.ts'
import type { Dial, SocketTransport, WarmOutcome, WarmRules } from './socket.ts'
import { withTrace } from './trace-headers.ts'
import { WarmTargets } from './warm-targets.ts'

export type SocketTransportOptions = {
  /** An http(s) or ws(s) URL, with the common path for all sockets. */
  baseUrl: string
  wire: VendorWire
  limits: OutboundLimits
  clock: Clock
  /** The rules for sockets opened in advance. Absent if this vendor has no warm sockets. */
  warm?: WarmRules
  /** Called each time a socket is opened, if the vendor has warm sockets. */
  observeWarm?: (outcome: WarmOutcome) => void
}

/** Makes the transport. Throws TypeError if the base URL is not a URL. */
export function createSocketTransport(options: SocketTransportOptions): SocketTransport {
  const { limits, warm, clock, observeWarm } = options
  const dial = createDial(options)
  if (!warm || warm.idleMsMax === 0 || limits.warmSockets.perRoute === 0)
    return { open: dial, close: () => Promise.resolve() }
  return new WarmTargets({ dial, rules: warm, bounds: limits.warmSockets, clock, observe: observeWarm ?? (() => {}) })
}

function createDial({ baseUrl, wire, limits, clock }: SocketTransportOptions): Dial {
  const base = new URL(baseUrl)
  // The origin is built as text, because the URL class cannot change http: to ws:.
  const origin = `${base.protocol === 'https:' || base.protocol === 'wss:' ? 'wss' : 'ws'}://${base.host}`
  const prefix = base.pathname.replace(/\/+$/, '')
  const { connectMs, firstByteMs, frameBytesMax, bufferedBytesMax } = limits
  return async (apiKey, { path, headers = [], protocols = [] }, signal) => {
    try {
      return await openSocket({
        url: `${origin}${prefix}${withQuery(path, base.search)}`,
        headers: withTrace(apiKey === null ? headers : [...wire.sign(apiKey), ...headers], signal),
        protocols,
        connectMs,
        openMs: firstByteMs,
        frameBytesMax,
        bufferedBytesMax,
        signal,
      })
    } catch (error) {
      throw error instanceof UpgradeRefused
        ? refusal(error.answer, wire, apiKey, clock.nowMs())
        : toProviderError(error)
    }
  }
}

const withQuery = (path: string, search: string) => path + (path.includes('?') ? search.replace('?', '&') : search)
