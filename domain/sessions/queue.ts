/**
 * Limits each organization's unjoined sessions, even with many simultaneous starts. A start counts from before the
 * stored sessions are read until its row is stored. If another start's row is stored during the read, the read may miss
 * the row, so it is added. At the limit one start too many may therefore be refused for a moment.
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
   * `store` stores the session. While it runs, a place in the queue is reserved. If the queue is full, throws the fault
   * `too_many_at_once` without calling `store`.
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
