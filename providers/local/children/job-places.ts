/**
 * The places in a pool's queue, divided among organizations. On a server with several organizations, a job waits a
 * moment for a place before it is refused, if its organization has used up its places. Otherwise a client that repeats
 * refused requests at once would keep the event loop busy with refusals.
 *
 *   take ──► place        wait ──► place, or null after `waitMs`
 */
import type { Clock } from '../../../domain/ports/system.ts'
import { Capacity, type Place } from '../../../runtime/shares/capacity.ts'
import { FairQueue } from '../../../runtime/shares/fair-queue.ts'
import { type Shares, undivided } from '../../../runtime/shares/owners.ts'

export type JobShares = Shares & {
  /** The longest wait for a place in the queue. */
  waitMs: number
  /**
   * The limit for jobs that wait for a place in the queue. Each organization's share of this limit equals its share of
   * the queue.
   */
  waitingMax: number
}

export type JobPlacesOptions = { queueMax: number; shares?: JobShares | undefined; clock: Clock }

type Waiting = (place: Place | null) => void

export class JobPlaces {
  readonly #places: Capacity
  /** Counts the jobs in `#waiting`. */
  readonly #waitingPlaces: Capacity
  readonly #waiting = new FairQueue<Waiting>()
  readonly #shares: JobShares
  readonly #clock: Clock

  constructor({ queueMax, shares = { ...undivided(), waitMs: 0, waitingMax: 0 }, clock }: JobPlacesOptions) {
    const { owners, part, waitingMax } = shares
    this.#places = new Capacity({ max: queueMax, part }, owners)
    this.#waitingPlaces = new Capacity({ max: waitingMax, part }, owners)
    this.#shares = shares
    this.#clock = clock
  }

  /** Returns null if the organization has used up its places now. */
  take(owner: string): Place | null {
    return this.#places.take(owner)
  }

  /** Returns false if a job would be refused at once. It may return true too often. */
  admits(owner: string): boolean {
    return this.#places.admits(owner, 1) || (this.#waits && this.#waitingPlaces.admits(owner, 1))
  }

  /**
   * Waits for a place. Resolves with null if there is no place in time, if too many jobs wait, or if the signal or the
   * pool ends.
   */
  async wait(owner: string, signal: AbortSignal): Promise<Place | null> {
    const waitingPlace = this.#waits ? this.#waitingPlaces.take(owner) : null
    if (!waitingPlace) return null
    let settle: Waiting = () => {}
    const settled = new Promise<Place | null>((resolve) => (settle = resolve))
    // The waiting entry is removed at once, because a place given to this entry would be lost.
    const giveUp = () => {
      this.#waiting.delete(owner, settle)
      settle(null)
    }
    const cancelTimer = this.#clock.after(this.#shares.waitMs, giveUp)
    signal.addEventListener('abort', giveUp, { once: true })
    this.#waiting.add(owner, settle)
    const place = await settled
    signal.removeEventListener('abort', giveUp)
    cancelTimer()
    waitingPlace.end()
    return place
  }

  /** Frees a place in the queue. The next waiting organization that may have the place gets it. */
  end(place: Place | null): void {
    place?.end()
    for (const owner of this.#waiting.owners()) {
      const free = this.#places.take(owner)
      if (free) this.#waiting.takeFrom(owner)?.(free)
    }
  }

  /** Ends all waits. */
  close(): void {
    for (let settle = this.#waiting.take(); settle; settle = this.#waiting.take()) settle(null)
  }

  /** A single organization need not wait: its requests can fail over to another provider at once. */
  get #waits(): boolean {
    return this.#shares.owners.areSeveral
  }
}
