/**
 * Runs work of several owners, a few pieces at once. If no place to run is free, work waits. The owner whose last turn
 * was longest ago is served next, and both the running and the waiting work are divided among the owners.
 *
 *   run ──► runs ──► next owner's work          null: too much work waits
 *     └──► waits ──┘
 */
import { Capacity, type Place } from './capacity.ts'
import { FairQueue } from './fair-queue.ts'
import type { Shares } from './owners.ts'

/** The most work that runs at once, and the most work that waits. */
export type WorkLimits = { runningMax: number; waitingMax: number }

export class WorkQueue {
  readonly #running: Capacity
  readonly #waitingPlaces: Capacity
  readonly #waiting = new FairQueue<(place: Place) => void>()

  constructor({ runningMax, waitingMax }: WorkLimits, { owners, part }: Shares) {
    this.#running = new Capacity({ max: runningMax, part }, owners)
    this.#waitingPlaces = new Capacity({ max: waitingMax, part }, owners)
  }

  /** Returns null, without a start of the work, if the owner's work or all work in the queue is too much. */
  run<Result>(owner: string, work: () => Promise<Result>): Promise<Result> | null {
    // Work must not overtake earlier work of its owner.
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

  /** Gives free places to the owners that may have one. The loop ends because no owner may have more than all places. */
  #startNext(): void {
    for (const owner of this.#waiting.owners()) {
      const place = this.#running.take(owner)
      if (place) this.#waiting.takeFrom(owner)?.(place)
    }
  }
}
