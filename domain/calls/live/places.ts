/** Limits the live sessions in this process. Each session occupies a place until its end. */
import type { EndLease, Limits } from '../../access/limits.ts'
import { takeLease } from '../../access/take-lease.ts'
import { Fault } from '../../records/fault.ts'
import type { Caller } from '../../records/organization.ts'

/**
 * Takes a place for an organization. Returns null if the organization can have no further place. Otherwise returns a
 * function that frees the place.
 */
export type TakePlace = (organizationId: string) => (() => void) | null

export class Places {
  readonly #takePlace: TakePlace
  #isClosed = false

  constructor(takePlace: TakePlace) {
    this.#takePlace = takePlace
  }

  /** Throws the fault `overloaded` if the organization cannot have a place now. The check itself takes no place. */
  require(organizationId: string): void {
    this.#take(organizationId)()
  }

  /**
   * Takes a place and the concurrency lease. The returned function frees both. Throws the faults `overloaded` and
   * `too_many_at_once`.
   */
  async takeWithLease(limits: Limits, organizationId: string, caller: Caller): Promise<EndLease> {
    const endPlace = this.#take(organizationId)
    try {
      const endLease = await takeLease(limits, caller, 'session')
      return () => {
        endLease()
        endPlace()
      }
    } catch (error) {
      endPlace()
      throw error
    }
  }

  /** Refuses new sessions from now on. */
  close(): void {
    this.#isClosed = true
  }

  #take(organizationId: string): () => void {
    const endPlace = this.#isClosed ? null : this.#takePlace(organizationId)
    if (endPlace === null) throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
    return endPlace
  }
}
