/**
 * Divides one pool's connections among organizations. A request without a free connection waits in a queue. The queue's
 * room is divided among organizations too, and the queue serves the organizations one after another. If an organization
 * below its share needs a connection, a connection from an organization above its share is cut. Only a connection whose
 * response is no longer read is cut.
 *
 *   begin ──► connection ──► ended
 *     └─► queue ──┘ └─ waited too long: queue_full
 */
import { Capacity, type Place } from '../shares/capacity.ts'
import { FairQueue } from '../shares/fair-queue.ts'
import { type Shares, undivided } from '../shares/owners.ts'
import { Watch, type WatchClock } from '../timing/watch.ts'
import type { PendingRequest, RequestHost } from './pending-request.ts'

export type ConnectionShares = Shares & {
  /** The longest wait for a connection. */
  waitMs: number
}

/** Without `shares`, any request may use any connection and waits until its cancel signal is aborted. */
export type ConnectionLimits = { connectionsMax: number; queuedMax: number; shares?: ConnectionShares | undefined }

/** The longest delay in noticing a time-out. */
const lookEveryMs = 250

export class Connections<Request extends { owner?: string | undefined }> implements RequestHost {
  readonly #connections: Capacity
  readonly #queue: Capacity
  readonly #waiting = new FairQueue<PendingRequest>()
  readonly #waitMs: number
  #isServing = false
  readonly #send: (request: Request, pending: PendingRequest) => void
  // One timer for all requests: undici would create two timers for each request, and keep finished requests in a list
  // for half a second.
  readonly #inFlight: Watch<PendingRequest>

  /** `send` sends a request when there is a connection for it. */
  constructor(
    { connectionsMax, queuedMax, shares }: ConnectionLimits,
    clock: WatchClock,
    send: (request: Request, pending: PendingRequest) => void,
  ) {
    const { owners, part } = shares ?? undivided()
    this.#connections = new Capacity({ max: connectionsMax, part }, owners)
    this.#queue = new Capacity({ max: queuedMax, part }, owners)
    // The check for time-outs may be up to `lookEveryMs` late, so the limit is shorter by this time.
    this.#waitMs = Math.max(0, (shares?.waitMs ?? Number.POSITIVE_INFINITY) - lookEveryMs)
    this.#send = send
    this.#inFlight = new Watch(clock, lookEveryMs, (pending, nowMs) => pending.look(nowMs))
  }

  /** Sends the request now or later, or fails it if too many requests wait. */
  begin(request: Request, pending: PendingRequest): void {
    const owner = request.owner ?? ''
    const place = this.#waiting.size > 0 && this.#waiting.has(owner) ? null : this.#connections.take(owner)
    if (!place) return this.#wait(owner, request, pending)
    this.#waiting.countTurn(owner)
    pending.starts(place)
    this.#inFlight.add(pending)
    this.#send(request, pending)
  }

  ended(pending: PendingRequest): void {
    const { share } = pending
    this.#inFlight.delete(pending)
    if (!share) return
    share.end()
    if (pending.queued) this.#waiting.delete(share.owner, pending)
    if (this.#waiting.size > 0) this.#next()
  }

  stuck(pending: PendingRequest): void {
    pending.share?.offer(() => pending.refuse('unread'))
    if (this.#waiting.size > 0) this.#next()
  }

  /** Fails the waiting requests and ends the timer. */
  close(): void {
    this.#inFlight.stop()
    for (let pending = this.#waiting.take(); pending; pending = this.#waiting.take()) pending.refuse('unreachable')
  }

  #wait(owner: string, request: Request, pending: PendingRequest): void {
    const place = this.#queue.take(owner)
    if (!place) return pending.refuse('queue_full')
    pending.waits(place, this.#waitMs, () => this.#send(request, pending))
    this.#waiting.add(owner, pending)
    this.#inFlight.add(pending)
  }

  /** Assigns free connections to waiting requests. An organization with a new connection goes to the queue's end. */
  #next(): void {
    // `take` can end another organization's request, and its end calls this method again.
    if (this.#isServing) return
    this.#isServing = true
    try {
      for (const owner of this.#waiting.owners()) {
        const place = this.#connections.take(owner)
        if (place) this.#startFirst(owner, place)
      }
    } finally {
      this.#isServing = false
    }
  }

  #startFirst(owner: string, place: Place): void {
    const pending = this.#waiting.takeFrom(owner)
    if (!pending) return place.end()
    const send = pending.queued
    pending.share?.end()
    pending.starts(place)
    send?.()
  }
}
