/**
 * Runs work for several owners (organizations or IP addresses), a few tasks at once. At the limit for running tasks,
 * further tasks wait. The owner with the longest time since its last turn is served next. The limits for running and
 * for waiting work are divided among the owners.
 *
 *   run ──► runs ──► next owner's work          null: too much work waits
 *     └──► waits ──┘
 */
import { Capacity, type Place } from './capacity.ts'
import { FairQueue } from './fair-queue.ts'
import type { Shares } from './owners.ts'

/** The maximum numbers of running and waiting tasks. */
export type WorkLimits = { runningMax: number; waitingMax: number }

export class WorkQueue {
  readonly #running: Capacity
  readonly #waitingPlaces: Capacity
  readonly #waiting = new FairQueue<(place: Place) => void>()

  constructor({ runningMax, waitingMax }: WorkLimits, { owners, part }: Shares) {
    this.#running = new Capacity({ max: runningMax, part }, owners)
    this.#waitingPlaces = new Capacity({ max: waitingMax, part }, owners)
  }

  /** Returns null and does not start the work if the owner has too much work in the queue, or if the queue is full. */
  run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> | null {
    // Work must not overtake its owner's earlier work.
    const place = this.#waiting.has(owner) ? null : this.#running.take(owner)
    if (place) {
      this.#waiting.countTurn(owner)
      return this.#runAt(place, work)
    }
    const waitingPlace = this.#waitingPlaces.take(owner)
    return waitingPlace && this.#runLater(owner, waitingPlace, work)
  }

  async #runLater<Result>(owner: string, waitingPlace: Place, work: () => Promise<Result>): Promise<Result> {
    const place = await new Promise<Place>((resolve) => this.#waiting.add(owner, resolve))
    waitingPlace.end()
    return this.#runAt(place, work)
  }

  async #runAt<Result>(place: Place, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } finally {
      place.end()
      this.#startNext()
    }
  }

  /**
   * Starts waiting tasks while the limit for running tasks allows it. The loop ends, because no owner may exceed the
   * limit.
   */
  #startNext(): void {
    for (const owner of this.#waiting.owners()) {
      const place = this.#running.take(owner)
      if (place) this.#waiting.takeFrom(owner)?.(place)
    }
  }
}
