/** Searches, orders and gives back a carrier's phone numbers. */

export type OfferedNumber = {
  /** E.164. */
  e164: string
  /** Null if the carrier names no price in US dollars. */
  upfrontMicroUsd: number | null
  monthlyMicroUsd: number | null
  /** As the carrier names them. */
  features: string[]
  region: { state: string | null; locality: string | null; rateCenter: string | null }
}

export type NumberSearch = { areaCode: string | null; locality: string | null; limit: number }

export type NumberOrder = { id: string; status: 'pending' | 'done' | 'failed' }

/** Every method throws NumberCarrierError. */
export interface NumberCarrier {
  /** United States numbers for sale. */
  search(query: NumberSearch): Promise<OfferedNumber[]>
  /** Null if the number is not for sale. */
  offerOf(e164: string): Promise<OfferedNumber | null>
  /** If the answer is lost, `reference` finds the order again. */
  order(e164: string, reference: string): Promise<NumberOrder>
  /** Null if the carrier has no such order. */
  findOrder(order: { id: string | null; reference: string }): Promise<NumberOrder | null>
  /** A bought number's id. Null if the carrier has not sold it to this account. */
  resourceIdOf(e164: string): Promise<string | null>
  /** If the number is gone already, it counts as given back. */
  release(resourceId: string): Promise<void>
}

/**
 * `unavailable`: the number is not for sale. `failed`: nothing was done. `unknown`: the request may have been done.
 */
export type NumberFailure = 'unavailable' | 'failed' | 'unknown'

export class NumberCarrierError extends Error {
  readonly failure: NumberFailure

  constructor(failure: NumberFailure, options: { cause?: unknown } = {}) {
    super(`number ${failure}`, options)
    this.name = 'NumberCarrierError'
    this.failure = failure
  }
}
