/**
 * Keeps a few warm sockets for each recently used target, so that the next stream does not wait for a handshake.
 *
 *   targets, least recently used first              a target
 *   ┌──────────┬──────────┬──────────┐              usedMs   the last uses, at most `perRoute`: one socket for each use
 *   │ target A │ target B │ target C │              waiting  warm sockets, oldest first
 *   └──────────┴──────────┴──────────┘              strikes  failed or short-lived sockets; three stop new openings
 *
 * One timer checks all targets: it sends keep-alives, replaces sockets near the vendor's idle limit, and forgets unused
 * targets. Above `socketsMax` the least recently used target loses a socket. If a target fails, it gets no more warm
 * sockets until a request has opened a socket successfully. So a vendor outage or a refused account causes no useless
 * attempts.
 */
import { setMaxListeners } from 'node:events'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import type { WarmSockets } from '../../runtime/outbound/limits.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import { Watch } from '../../runtime/timing/watch.ts'
import type { Dial, SocketTarget, SocketTransport, WarmOutcome, WarmRules } from './socket.ts'
import { WarmSocket } from './warm-socket.ts'

export type WarmOptions = {
  dial: Dial
  rules: WarmRules
  bounds: WarmSockets
  clock: Clock
  observe: (outcome: WarmOutcome) => void
}

type WarmTarget = {
  /** The target's index in the timer (`Watch`); -1 if the timer does not watch the target. */
  place: number
  readonly key: string
  readonly open: (signal: AbortSignal) => Promise<OutboundSocket>
  usedMs: number[]
  waiting: WarmSocket[]
  opening: number
  strikes: number
}

const strikesMax = 3

export class WarmTargets implements SocketTransport {
  readonly #options: WarmOptions
  /**
   * The interval between two checks: an eighth of a warm socket's maximum age, and at most half the keep-alive
   * interval.
   */
  readonly #lookMs: number
  /** The targets, the least recently used first. */
  readonly #targets = new Map<string, WarmTarget>()
  readonly #watch: Watch<WarmTarget>
  readonly #openings = new Set<Promise<void>>()
  readonly #closing = new AbortController()
  /** The number of unused open sockets and opening sockets together. */
  #count = 0

  constructor(options: WarmOptions) {
    this.#options = options
    // Each opening socket adds an abort listener to this signal, so Node's warning about many listeners would be wrong.
    setMaxListeners(0, this.#closing.signal)
    const { keepAlive, idleMsMax } = options.rules
    this.#lookMs = Math.max(1, Math.min(idleMsMax / 8, (keepAlive?.everyMs ?? Number.POSITIVE_INFINITY) / 2))
    this.#watch = new Watch(options.clock, this.#lookMs, (target) => this.#look(target))
  }

  async open(apiKey: string | null, to: SocketTarget, signal: CancelSignal): Promise<OutboundSocket> {
    const { dial, observe } = this.#options
    if (signal.aborted) return dial(apiKey, to, signal)
    const target = this.#use(apiKey, to)
    const warm = this.#take(target)
    observe(warm ? 'hit' : 'miss')
    // Without a warm socket the request opens a socket itself. If this succeeds, warm sockets can be opened again.
    const socket = warm ?? (await dial(apiKey, to, signal))
    // A completed handshake allows only one more warm socket, because many vendors check the key after the handshake. A
    // warm socket still open at its use proves more, so all strikes are reset.
    target.strikes = warm ? 0 : Math.min(target.strikes, strikesMax - 1)
    // Beginning a handshake takes a millisecond of work, and the request need not wait for it.
    setImmediate(() => this.#refill(target))
    return socket
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#watch.stop()
    for (const target of this.#targets.values()) this.#forget(target)
    await Promise.all(this.#openings)
  }

  #use(apiKey: string | null, to: SocketTarget): WarmTarget {
    const { perRoute, socketsMax } = this.#options.bounds
    const key = JSON.stringify([apiKey, to.path, to.headers, to.protocols])
    const target = this.#targets.get(key) ?? this.#newTarget(key, (signal) => this.#options.dial(apiKey, to, signal))
    target.usedMs = [...target.usedMs, this.#nowMs()].slice(-perRoute)
    this.#targets.delete(key)
    this.#targets.set(key, target)
    if (!this.#closing.signal.aborted) this.#watch.add(target)
    const [oldest] = this.#targets.values()
    if (oldest && this.#targets.size > socketsMax) this.#forget(oldest)
    return target
  }

  #newTarget(key: string, open: WarmTarget['open']): WarmTarget {
    // The target begins with the maximum strikes, so it gets no warm socket until a request has opened a socket
    // successfully.
    return { place: -1, key, open, usedMs: [], waiting: [], opening: 0, strikes: strikesMax }
  }

  #take(target: WarmTarget): WarmSocket | null {
    for (let socket = this.#remove(target); socket; socket = this.#remove(target)) {
      if (socket.isOpen && this.#ageMs(socket) < this.#options.rules.idleMsMax) {
        socket.lend()
        return socket
      }
      socket.close()
      this.#options.observe('stale')
    }
    return null
  }

  /** Removes a socket from the target: the oldest waiting socket, or the given socket. */
  #remove(target: WarmTarget, socket = target.waiting[0]): WarmSocket | undefined {
    if (!socket || !target.waiting.includes(socket)) return undefined
    target.waiting = target.waiting.filter((other) => other !== socket)
    this.#count--
    return socket
  }

  #forget(target: WarmTarget): void {
    this.#targets.delete(target.key)
    this.#watch.delete(target)
    while (target.waiting.length > 0) this.#remove(target)?.close()
  }

  #refill(target: WarmTarget): void {
    // A socket near its age limit can still be used, but its replacement is opened now.
    const lasting = target.waiting.filter((socket) => this.#ageMs(socket) + 2 * this.#lookMs <= this.#idleMsMax)
    let missing = this.#desiredCount(target) - lasting.length - target.opening
    while (missing-- > 0 && this.#canOpenFor(target)) this.#openWarm(target)
  }

  #desiredCount(target: WarmTarget): number {
    if (this.#closing.signal.aborted || this.#targets.get(target.key) !== target) return 0
    const since = this.#nowMs() - this.#options.bounds.routeMs
    return Math.min(target.usedMs.filter((usedMs) => usedMs > since).length, Math.max(0, strikesMax - target.strikes))
  }

  /**
   * Returns true if a socket can be opened for the target. At the maximum, closes a warm socket of a less recently used
   * target.
   */
  #canOpenFor(target: WarmTarget): boolean {
    if (this.#count < this.#options.bounds.socketsMax) return true
    for (const other of this.#targets.values()) {
      if (other === target) return false
      const socket = this.#remove(other)
      if (socket) {
        socket.close()
        return true
      }
    }
    return false
  }

  #openWarm(target: WarmTarget): void {
    this.#count++
    target.opening++
    const opening = target
      .open(this.#closing.signal)
      .then(
        (socket) => this.#opened(target, socket),
        () => {
          target.strikes++
          this.#count--
        },
      )
      .finally(() => {
        target.opening--
        this.#openings.delete(opening)
      })
    this.#openings.add(opening)
  }

  #opened(target: WarmTarget, socket: OutboundSocket): void {
    const desiredCount = this.#desiredCount(target)
    if (desiredCount === 0) {
      this.#count--
      return socket.close()
    }
    const warm = new WarmSocket(socket, {
      openedMs: this.#nowMs(),
      reopen: target.open,
      ended: () => this.#ended(target, warm),
      stale: () => this.#options.observe('stale'),
    })
    target.waiting.push(warm)
    while (target.waiting.length > desiredCount) this.#remove(target)?.close()
  }

  #ended(target: WarmTarget, socket: WarmSocket): void {
    if (!this.#remove(target, socket)) return
    this.#options.observe('stale')
    // If the socket was open for a while, the target works and only this connection was closed, so this is not a
    // strike.
    if (this.#ageMs(socket) < this.#lookMs) target.strikes++
    this.#refill(target)
  }

  #look(target: WarmTarget): void {
    const isRecent = this.#nowMs() - (target.usedMs.at(-1) ?? 0) < this.#options.bounds.routeMs
    if (!isRecent) return this.#forget(target)
    for (const socket of target.waiting) this.#keepAlive(target, socket)
    this.#refill(target)
  }

  #keepAlive(target: WarmTarget, socket: WarmSocket): void {
    const { keepAlive } = this.#options.rules
    if (this.#ageMs(socket) + this.#lookMs > this.#idleMsMax) return this.#remove(target, socket)?.close()
    if (keepAlive && this.#nowMs() + this.#lookMs > socket.lastKeepAliveMs + keepAlive.everyMs)
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
