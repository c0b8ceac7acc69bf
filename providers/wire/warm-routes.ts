/**
 * A few sockets opened ahead for each route that traffic has used lately, so that the next session does not wait for a handshake.
 *
 *   routes, the one used longest ago first          a route
 *   ┌─────────┬─────────┬─────────┐                 usedMs   the last uses, at most `perRoute` of them: as many sockets are wanted
 *   │ route A │ route B │ route C │                 waiting  oldest first, handed out in this order
 *   └─────────┴─────────┴─────────┘                 strikes  openings that failed and sockets that ended at once; three, and none is opened any more
 *
 * One timer looks at all of them: it says keep-alive, replaces what nears the vendor's idle limit, and forgets routes. Above `socketsMax` the
 * route used longest ago gives way. A route that fails is left alone until a caller has opened it by himself, so a vendor that is down, or an
 * account that is refused, is not asked again and again for nobody.
 */
import { setMaxListeners } from 'node:events'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import type { WarmSockets } from '../../runtime/outbound/limits.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import type { Dial, SocketRoute, SocketTransport, Standby, WarmOutcome } from './socket.ts'
import { StandbySocket } from './warm-socket.ts'

export type WarmOptions = {
  dial: Dial
  standby: Standby
  bounds: WarmSockets
  clock: Clock
  observe: (outcome: WarmOutcome) => void
}

type Route = {
  readonly key: string
  readonly open: (signal: AbortSignal) => Promise<OutboundSocket>
  usedMs: number[]
  waiting: StandbySocket[]
  opening: number
  strikes: number
}

const strikesMax = 3

export class WarmRoutes implements SocketTransport {
  readonly #options: WarmOptions
  /** Between two looks at what waits: an eighth of its life, and no longer than a vendor may be kept without a word. */
  readonly #lookMs: number
  /** In the order of their last use. */
  readonly #routes = new Map<string, Route>()
  readonly #openings = new Set<Promise<void>>()
  readonly #closing = new AbortController()
  /** Sockets that wait or are being opened. */
  #count = 0
  #stopLooking: (() => void) | null = null

  constructor(options: WarmOptions) {
    this.#options = options
    // Every opening listens to it.
    setMaxListeners(0, this.#closing.signal)
    const { keepAlive, idleMsMax } = options.standby
    this.#lookMs = Math.max(1, Math.min(idleMsMax / 8, (keepAlive?.everyMs ?? Number.POSITIVE_INFINITY) / 2))
  }

  async open(apiKey: string | null, to: SocketRoute, signal: CancelSignal): Promise<OutboundSocket> {
    const { dial, observe } = this.#options
    if (signal.aborted) return dial(apiKey, to, signal)
    const route = this.#use(apiKey, to)
    const warm = this.#take(route)
    observe(warm ? 'hit' : 'miss')
    // Cold, the caller goes first: one handshake tells whether there is any point in more.
    const socket = warm ?? (await dial(apiKey, to, signal))
    // Many vendors look at the key only after the upgrade, so a cold success earns one try more, and the rest follows when that was of use.
    route.strikes = warm ? 0 : Math.min(route.strikes, strikesMax - 1)
    // Beginning a handshake takes a millisecond of work, which the caller need not wait for.
    setImmediate(() => this.#refill(route))
    return socket
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#stopLooking?.()
    for (const route of this.#routes.values()) this.#forget(route)
    await Promise.all(this.#openings)
  }

  #use(apiKey: string | null, to: SocketRoute): Route {
    const { perRoute, socketsMax } = this.#options.bounds
    const key = JSON.stringify([apiKey, to.path, to.headers, to.protocols])
    const route = this.#routes.get(key) ?? this.#newRoute(key, (signal) => this.#options.dial(apiKey, to, signal))
    route.usedMs = [...route.usedMs, this.#nowMs()].slice(-perRoute)
    this.#routes.delete(key)
    this.#routes.set(key, route)
    const [oldest] = this.#routes.values()
    if (oldest && this.#routes.size > socketsMax) this.#forget(oldest)
    return route
  }

  #newRoute(key: string, open: Route['open']): Route {
    // Struck out, until a caller has shown that it can be opened.
    return { key, open, usedMs: [], waiting: [], opening: 0, strikes: strikesMax }
  }

  #take(route: Route): StandbySocket | null {
    for (let socket = this.#remove(route); socket; socket = this.#remove(route)) {
      if (socket.isOpen && this.#ageMs(socket) < this.#options.standby.idleMsMax) {
        socket.lend()
        return socket
      }
      socket.close()
      this.#options.observe('stale')
    }
    return null
  }

  /** The oldest that waits, no longer counted. */
  #remove(route: Route, socket = route.waiting[0]): StandbySocket | undefined {
    if (!socket || !route.waiting.includes(socket)) return undefined
    route.waiting = route.waiting.filter((other) => other !== socket)
    this.#count--
    return socket
  }

  #forget(route: Route): void {
    this.#routes.delete(route.key)
    while (route.waiting.length > 0) this.#remove(route)?.close()
  }

  #refill(route: Route): void {
    // One that will soon be too old still serves, but its successor is opened already.
    const lasting = route.waiting.filter((socket) => this.#ageMs(socket) + 2 * this.#lookMs <= this.#idleMsMax)
    let missing = this.#wanted(route) - lasting.length - route.opening
    while (missing-- > 0 && this.#makeRoom(route)) this.#openAhead(route)
    if (this.#routes.size > 0 && !this.#closing.signal.aborted)
      this.#stopLooking ??= this.#options.clock.after(this.#lookMs, () => this.#look())
  }

  #wanted(route: Route): number {
    if (this.#closing.signal.aborted || this.#routes.get(route.key) !== route) return 0
    const since = this.#nowMs() - this.#options.bounds.routeMs
    return Math.min(route.usedMs.filter((usedMs) => usedMs > since).length, Math.max(0, strikesMax - route.strikes))
  }

  /** Takes it from a route that was used longer ago, where need be. */
  #makeRoom(route: Route): boolean {
    if (this.#count < this.#options.bounds.socketsMax) return true
    for (const other of this.#routes.values()) {
      if (other === route) return false
      const given = this.#remove(other)
      if (given) {
        given.close()
        return true
      }
    }
    return false
  }

  #openAhead(route: Route): void {
    this.#count++
    route.opening++
    const opening = route
      .open(this.#closing.signal)
      .then(
        (socket) => this.#opened(route, socket),
        () => {
          route.strikes++
          this.#count--
        },
      )
      .finally(() => {
        route.opening--
        this.#openings.delete(opening)
      })
    this.#openings.add(opening)
  }

  #opened(route: Route, socket: OutboundSocket): void {
    const wanted = this.#wanted(route)
    if (wanted === 0) {
      this.#count--
      return socket.close()
    }
    const warm = new StandbySocket(socket, {
      openedMs: this.#nowMs(),
      reopen: route.open,
      ended: () => this.#ended(route, warm),
      stale: () => this.#options.observe('stale'),
    })
    route.waiting.push(warm)
    while (route.waiting.length > wanted) this.#remove(route)?.close()
  }

  #ended(route: Route, socket: StandbySocket): void {
    if (!this.#remove(route, socket)) return
    this.#options.observe('stale')
    // One that stood for a while was good, only its server has gone.
    if (this.#ageMs(socket) < this.#lookMs) route.strikes++
    this.#refill(route)
  }

  #look(): void {
    this.#stopLooking = null
    for (const route of [...this.#routes.values()]) {
      const isRecent = this.#nowMs() - (route.usedMs.at(-1) ?? 0) < this.#options.bounds.routeMs
      if (!isRecent) {
        this.#forget(route)
        continue
      }
      for (const socket of route.waiting) this.#tend(route, socket)
      this.#refill(route)
    }
  }

  #tend(route: Route, socket: StandbySocket): void {
    const { keepAlive } = this.#options.standby
    if (this.#ageMs(socket) + this.#lookMs > this.#idleMsMax) return this.#remove(route, socket)?.close()
    if (keepAlive && this.#nowMs() + this.#lookMs > socket.keptAliveMs + keepAlive.everyMs)
      socket.keepAlive(keepAlive.text, this.#nowMs())
  }

  get #idleMsMax(): number {
    return this.#options.standby.idleMsMax
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  #ageMs(socket: StandbySocket): number {
    return this.#nowMs() - socket.openedMs
  }
}
