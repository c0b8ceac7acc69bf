/**
 * A few warm sockets for each route that was used recently, so that the next stream does not wait for a handshake.
 *
 *   routes, the one used longest ago first          a route
 *   ┌─────────┬─────────┬─────────┐                 usedMs   the last uses, at most `perRoute`: as many sockets are wanted
 *   │ route A │ route B │ route C │                 waiting  oldest first, lent in this order
 *   └─────────┴─────────┴─────────┘                 strikes  openings that failed and sockets that ended at once; at three, no more are opened
 *
 * One watch looks at all routes: it sends keep-alives, replaces sockets that are near the vendor's idle limit, and
 * forgets routes. Above `socketsMax` the route used longest ago loses a socket. A route that fails is left alone
 * until a request has opened it, so that a vendor that is down, or an account that is refused, does not get attempts
 * that no request needs.
 */
import { setMaxListeners } from 'node:events'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import type { WarmSockets } from '../../runtime/outbound/limits.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import { Watch } from '../../runtime/watch.ts'
import type { Dial, SocketRoute, SocketTransport, WarmOutcome, WarmRules } from './socket.ts'
import { WarmSocket } from './warm-socket.ts'

export type WarmOptions = {
  dial: Dial
  rules: WarmRules
  bounds: WarmSockets
  clock: Clock
  observe: (outcome: WarmOutcome) => void
}

type Route = {
  /** The place among the members of the watch. */
  place: number
  readonly key: string
  readonly open: (signal: AbortSignal) => Promise<OutboundSocket>
  usedMs: number[]
  waiting: WarmSocket[]
  opening: number
  strikes: number
}

const strikesMax = 3

export class WarmRoutes implements SocketTransport {
  readonly #options: WarmOptions
  /** Between two looks: an eighth of the life of a warm socket, and at most half of the interval of the keep-alive. */
  readonly #lookMs: number
  /** In the order of their last use. */
  readonly #routes = new Map<string, Route>()
  readonly #watch: Watch<Route>
  readonly #openings = new Set<Promise<void>>()
  readonly #closing = new AbortController()
  /** Sockets that wait or are being opened. */
  #count = 0

  constructor(options: WarmOptions) {
    this.#options = options
    // Each opening adds a listener.
    setMaxListeners(0, this.#closing.signal)
    const { keepAlive, idleMsMax } = options.rules
    this.#lookMs = Math.max(1, Math.min(idleMsMax / 8, (keepAlive?.everyMs ?? Number.POSITIVE_INFINITY) / 2))
    this.#watch = new Watch(options.clock, this.#lookMs, (route) => this.#look(route))
  }

  async open(apiKey: string | null, to: SocketRoute, signal: CancelSignal): Promise<OutboundSocket> {
    const { dial, observe } = this.#options
    if (signal.aborted) return dial(apiKey, to, signal)
    const route = this.#use(apiKey, to)
    const warm = this.#take(route)
    observe(warm ? 'hit' : 'miss')
    // Without a warm socket the request opens one first: its handshake shows whether more can be opened.
    const socket = warm ?? (await dial(apiKey, to, signal))
    // Many vendors check the key only after the upgrade. So a handshake allows one more opening, and the use of a
    // warm socket allows the others.
    route.strikes = warm ? 0 : Math.min(route.strikes, strikesMax - 1)
    // To begin a handshake takes a millisecond of work, and the caller need not wait for it.
    setImmediate(() => this.#refill(route))
    return socket
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#watch.stop()
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
    if (!this.#closing.signal.aborted) this.#watch.add(route)
    const [oldest] = this.#routes.values()
    if (oldest && this.#routes.size > socketsMax) this.#forget(oldest)
    return route
  }

  #newRoute(key: string, open: Route['open']): Route {
    // No warm socket, until a request has shown that the route can be opened.
    return { place: -1, key, open, usedMs: [], waiting: [], opening: 0, strikes: strikesMax }
  }

  #take(route: Route): WarmSocket | null {
    for (let socket = this.#remove(route); socket; socket = this.#remove(route)) {
      if (socket.isOpen && this.#ageMs(socket) < this.#options.rules.idleMsMax) {
        socket.lend()
        return socket
      }
      socket.close()
      this.#options.observe('stale')
    }
    return null
  }

  /** Takes a socket off the route: the oldest that waits, or the one given. */
  #remove(route: Route, socket = route.waiting[0]): WarmSocket | undefined {
    if (!socket || !route.waiting.includes(socket)) return undefined
    route.waiting = route.waiting.filter((other) => other !== socket)
    this.#count--
    return socket
  }

  #forget(route: Route): void {
    this.#routes.delete(route.key)
    this.#watch.delete(route)
    while (route.waiting.length > 0) this.#remove(route)?.close()
  }

  #refill(route: Route): void {
    // A socket that will soon be too old can still be lent, but its successor is opened already.
    const lasting = route.waiting.filter((socket) => this.#ageMs(socket) + 2 * this.#lookMs <= this.#idleMsMax)
    let missing = this.#wanted(route) - lasting.length - route.opening
    while (missing-- > 0 && this.#canOpenFor(route)) this.#openWarm(route)
  }

  #wanted(route: Route): number {
    if (this.#closing.signal.aborted || this.#routes.get(route.key) !== route) return 0
    const since = this.#nowMs() - this.#options.bounds.routeMs
    return Math.min(route.usedMs.filter((usedMs) => usedMs > since).length, Math.max(0, strikesMax - route.strikes))
  }

  /** At the maximum, closes a warm socket of a route that was used longer ago. */
  #canOpenFor(route: Route): boolean {
    if (this.#count < this.#options.bounds.socketsMax) return true
    for (const other of this.#routes.values()) {
      if (other === route) return false
      const socket = this.#remove(other)
      if (socket) {
        socket.close()
        return true
      }
    }
    return false
  }

  #openWarm(route: Route): void {
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
    const warm = new WarmSocket(socket, {
      openedMs: this.#nowMs(),
      reopen: route.open,
      ended: () => this.#ended(route, warm),
      stale: () => this.#options.observe('stale'),
    })
    route.waiting.push(warm)
    while (route.waiting.length > wanted) this.#remove(route)?.close()
  }

  #ended(route: Route, socket: WarmSocket): void {
    if (!this.#remove(route, socket)) return
    this.#options.observe('stale')
    // A socket that lasted for a while was good; only its server has gone.
    if (this.#ageMs(socket) < this.#lookMs) route.strikes++
    this.#refill(route)
  }

  #look(route: Route): void {
    const isRecent = this.#nowMs() - (route.usedMs.at(-1) ?? 0) < this.#options.bounds.routeMs
    if (!isRecent) return this.#forget(route)
    for (const socket of route.waiting) this.#keepAlive(route, socket)
    this.#refill(route)
  }

  #keepAlive(route: Route, socket: WarmSocket): void {
    const { keepAlive } = this.#options.rules
    if (this.#ageMs(socket) + this.#lookMs > this.#idleMsMax) return this.#remove(route, socket)?.close()
    if (keepAlive && this.#nowMs() + this.#lookMs > socket.keptAliveMs + keepAlive.everyMs)
      socket.keepAlive(keepAlive.text, this.#nowMs())
  }

  get #idleMsMax(): number {
    return this.#options.rules.idleMsMax
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs()
  }

  #ageMs(socket: WarmSocket): number {
    return this.#nowMs() - socket.openedMs
  }
}
