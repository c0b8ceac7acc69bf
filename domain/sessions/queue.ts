/**
 * Bounds the sessions of each organization that nobody has joined, also for many starts at once. A start counts from
 * before the stored ones are read until its row is stored. One that is stored while another start reads may be missing
 * in what that one reads, so it is added there, and at the limit one start too many may be refused for a moment.
 */
import { Fault } from '../records/fault.ts'

type Starts = { underWay: number; stored: number }

export class SessionQueue {
  readonly #countQueued: (organizationId: string) => Promise<number>
  readonly #queuedMax: number
  readonly #starts = new Map<string, Starts>()

  constructor(countQueued: (organizationId: string) => Promise<number>, queuedMax: number) {
    this.#countQueued = countQueued
    this.#queuedMax = queuedMax
  }

  /**
   * `store` stores the session. While `store` runs, a place in the queue is kept for the session. If the queue is full,
   * throws the fault too_many_at_once and does not call `store`.
   */
  async enter<T>(organizationId: string, store: () => Promise<T>): Promise<T> {
    const starts = this.#starts.get(organizationId) ?? { underWay: 0, stored: 0 }
    this.#starts.set(organizationId, starts)
    starts.underWay += 1
    try {
      const storedBefore = starts.stored
      const queued = await this.#countQueued(organizationId)
      if (queued + starts.underWay + starts.stored - storedBefore > this.#queuedMax)
        throw new Fault({ kind: 'too_many_at_once', limit: 'organization' }, { retryAfterS: 1 })
      const stored = await store()
      starts.stored += 1
      return stored
    } finally {
      starts.underWay -= 1
      if (starts.underWay === 0) this.#starts.delete(organizationId)
    }
  }
}
