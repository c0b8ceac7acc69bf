/** Searches, orders and releases a carrier's phone numbers. */

export type OfferedNumber = {
  /** A phone number in E.164 form. */
  e164: string
  /** Null if the carrier states no price in US dollars. */
  upfrontMicroUsd: number | null
  monthlyMicroUsd: number | null
  /** The carrier's names for the number's features, such as voice or SMS. */
  features: string[]
  region: { state: string | null; locality: string | null; rateCenter: string | null }
}

export type NumberSearch = { areaCode: string | null; locality: string | null; limit: number }

export type NumberOrder = { id: string; status: 'pending' | 'done' | 'failed' }

/** If the carrier refuses a request or does not answer, the method throws NumberCarrierError. */
export interface NumberCarrier {
  /** Finds United States numbers for sale. */
  search(query: NumberSearch): Promise<OfferedNumber[]>
  /** Resolves with null if the number is not for sale. */
  offerOf(e164: string): Promise<OfferedNumber | null>
  /** Orders a number. If the answer is lost, `findOrder` finds the order by `reference`. */
  order(e164: string, reference: string): Promise<NumberOrder>
  /** Finds an order by id or reference. Resolves with null if the carrier has no such order. */
  findOrder(order: { id: string | null; reference: string }): Promise<NumberOrder | null>
  /** Finds a bought number's id. Resolves with null if the carrier has not sold the number to this account. */
  resourceIdOf(e164: string): Promise<string | null>
  /** Releases a number. If the carrier does not have the number any more, this is not an error. */
  release(resourceId: string): Promise<void>
}

/**
 * `unavailable`: the number is not for sale. `failed`: the carrier did nothing. `unknown`: the carrier may have acted.
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
