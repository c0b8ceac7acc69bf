/**
 * Bounds requests by source IP address: their number in a fixed time window, and the number in flight. A window begins
 * at the same time for all addresses, so a new window clears all counts at once. If several instances share counts,
 * each instance sends its new counts to the other instances several times a second, so no request waits for an
 * exchange. Together the instances can exceed the quota by the requests between two exchanges. The source address is
 * the connection's peer. Behind trusted proxies, it is the nearest untrusted address in X-Forwarded-For.
 */
import ipaddr from 'ipaddr.js'
import { serializeList } from 'structured-headers'
import { Refusal } from './handler.ts'
import type { EdgeQuotaOptions } from './options.ts'
import { trustOf } from './trusted-proxies.ts'

export class EdgeQuota {
  readonly #options: EdgeQuotaOptions
  readonly #busyMax: number
  readonly #isTrusted: (address: string) => boolean
  /** The requests to this instance in this window, by source address. */
  readonly #counts = new Map<string, number>()
  /** The requests to this instance, not yet reported to the other instances, by source address. */
  #unsent = new Map<string, number>()
  /** The requests to the other instances, as known from the last exchange, by source address. */
  readonly #others = new Map<string, number>()
  /**
   * True if no counts are exchanged, or the last exchange failed. Each instance then allows its share: the quota
   * divided by the number of instances.
   */
  #isAlone: boolean
  readonly #busy = new Map<string, number>()
  #window = -1
  #instances = 0
  /** Requests allowed by this instance in a window. 0: no quota. */
  #requests = 0
  #policy = ''
  #hasUnnamedProxy = false

  /**
   * `busyMax` bounds the requests in flight from one IP address. Throws if a trusted proxy is neither an address nor a
   * CIDR range.
   */
  constructor(options: EdgeQuotaOptions, busyMax: number) {
    this.#options = options
    this.#busyMax = busyMax
    this.#isTrusted = trustOf(options.trustedProxies)
    this.#isAlone = !options.shared
    this.#share()
  }

  /** Returns the value for `RateLimit-Policy`: `"relay-ip";q=2000;w=300`. '' if there is no quota. */
  get policy(): string {
    return this.#policy
  }

  /** Divides the quota again if the number of instances has changed. */
  #share(): void {
    const instances = this.#isAlone ? (this.#options.instances?.() ?? 1) : 1
    if (instances === this.#instances) return
    this.#instances = instances
    this.#requests = Math.ceil(this.#options.requests / instances)
    const parameters = new Map([
      ['q', this.#requests],
      ['w', this.#options.windowS],
    ])
    this.#policy = this.#requests === 0 ? '' : serializeList([['relay-ip', parameters]])
  }

  /** Returns the address under which a request counts: IPv4 as it is, IPv6 by its /64. */
  source(peer: string, forwardedFor: string): string {
    if (forwardedFor === '') return network(peer)
    if (!this.#hasUnnamedProxy && !this.#isTrusted(peer) && isPrivate(peer)) {
      this.#hasUnnamedProxy = true
      this.#options.onUnnamedProxy?.(peer)
    }
    let nearest = peer
    const hops = forwardedFor.split(',')
    while (this.#isTrusted(nearest)) {
      const hop = withoutPort(hops.pop() ?? '')
      if (!ipaddr.isValid(hop)) break
      nearest = hop
    }
    return network(nearest)
  }

  /**
   * Returns the value for `RateLimit`, and a refusal if the address has used up its quota. In either case the calling
   * code must call `leave` later. `nowMs` is wall time, because all instances number their windows by it.
   */
  enter(source: string, nowMs: number): { rateLimit: string; refusal: Refusal | null } {
    const busy = (this.#busy.get(source) ?? 0) + 1
    this.#busy.set(source, busy)
    this.#share()
    const requests = this.#requests
    const resetS = this.#enterWindow(nowMs)
    const used = requests === 0 ? 0 : this.#count(source)
    const rateLimit = requests === 0 ? '' : `"relay-ip";r=${Math.max(0, requests - used)};t=${resetS}`
    if (used > requests) return { rateLimit, refusal: tooMany('too many requests from this address', resetS) }
    if (busy > this.#busyMax) return { rateLimit, refusal: tooMany('too many requests at once from this address', 1) }
    return { rateLimit, refusal: null }
  }

  /** Sends the new counts to the other instances and receives theirs. Never rejects. */
  async exchange(): Promise<void> {
    const { shared, windowS } = this.#options
    if (!shared || this.#unsent.size === 0) return
    const window = this.#window
    const news = this.#unsent
    this.#unsent = new Map()
    try {
      const sums = await shared.add(window, windowS * 1000, news)
      this.#isAlone = false
      if (window === this.#window) for (const [source, sum] of sums) this.#learn(source, sum)
    } catch {
      // The code for the connection to the other instances logs the failure once, so it is not logged here.
      this.#isAlone = true
      if (window === this.#window) for (const [source, count] of news) addTo(this.#unsent, source, count)
    }
  }

  #learn(source: string, sum: number): void {
    const own = (this.#counts.get(source) ?? 0) - (this.#unsent.get(source) ?? 0)
    if (this.#counts.has(source)) this.#others.set(source, Math.max(0, sum - own))
  }

  leave(source: string): void {
    const busy = (this.#busy.get(source) ?? 0) - 1
    if (busy > 0) this.#busy.set(source, busy)
    else this.#busy.delete(source)
  }

  #enterWindow(nowMs: number): number {
    const windowMs = this.#options.windowS * 1000
    const window = Math.floor(nowMs / windowMs)
    if (window !== this.#window) {
      this.#window = window
      this.#counts.clear()
      this.#others.clear()
      this.#unsent = new Map()
    }
    return Math.ceil(((window + 1) * windowMs - nowMs) / 1000)
  }

  #count(source: string): number {
    const used = (this.#counts.get(source) ?? 0) + 1
    if (used === 1 && this.#counts.size >= this.#options.addressesMax) this.#forgetOldest()
    this.#counts.set(source, used)
    if (this.#options.shared) addTo(this.#unsent, source, 1)
    return used + (this.#others.get(source) ?? 0)
  }

  #forgetOldest(): void {
    const oldest = this.#counts.keys().next()
    if (oldest.done) return
    for (const map of [this.#counts, this.#unsent, this.#others]) map.delete(oldest.value)
  }
}

function addTo(counts: Map<string, number>, source: string, count: number): void {
  counts.set(source, (counts.get(source) ?? 0) + count)
}

/** Removes a port, because some proxies write 192.0.2.1:443 or [2001:db8::1]:443. */
function withoutPort(hop: string): string {
  return hop.trim().replace(/^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/, (_match, v6?: string, v4?: string) => v6 ?? v4 ?? '')
}

/**
 * Returns an IPv4 address as it is, and an IPv6 address as its /64, because the holder of the address has the whole
 * /64.
 */
function network(address: string): string {
  if (!address.includes(':')) return address
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}

/**
 * True if the address is not public. Clients on the internet have public addresses, so if a private address sends
 * X-Forwarded-For, it is probably a proxy.
 */
function isPrivate(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() !== 'unicast'
}

function tooMany(message: string, retryAfterS: number): Refusal {
  return new Refusal('rate_limited', { message, retryAfterS })
}
