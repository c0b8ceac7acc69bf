import type { Caller } from '../records/organization.ts'
import type { EndLease, Limits } from './limits.ts'
import { takeLease } from './take-lease.ts'

/**
 * Concurrency leases for requests whose bodies have not arrived. If an organization or key is at its limit, its request
 * is refused before its body takes memory. Later the request's dispatch takes the lease over.
 */
export class EarlyLeases {
  readonly #limits: Limits
  /** The leases that no dispatch has taken over, by request id. */
  readonly #held = new Map<string, EndLease>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /**
   * Takes the request's lease. Throws the fault `too_many_at_once`. Call the returned function when the request has
   * ended: it ends the lease unless a dispatch has taken the lease over.
   */
  take(caller: Caller, requestId: string): EndLease | Promise<EndLease> {
    const lease = takeLease(this.#limits, caller, 'request')
    return lease instanceof Promise ? lease.then((end) => this.#hold(requestId, end)) : this.#hold(requestId, lease)
  }

  /** Hands over the request's lease. Returns null if the request has no early lease. */
  takeOver(requestId: string): EndLease | null {
    const end = this.#held.get(requestId)
    if (end === undefined) return null
    this.#held.delete(requestId)
    return end
  }

  #hold(requestId: string, end: EndLease): EndLease {
    this.#held.set(requestId, end)
    return () => this.takeOver(requestId)?.()
  }
}
