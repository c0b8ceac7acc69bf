/**
 * Limits each organization's unjoined sessions, even with many simultaneous starts. The database's count may miss
 * starts in this process that are still running, and rows stored while it counts. Both are added to the count. So a row
 * may be counted twice for a moment, and a start just below the limit may be refused.
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
   * Calls `store`, which must store the session, after it has reserved a place in the queue for the session. If the
   * queue is full, throws the fault `too_many_at_once` without calling `store`.
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
