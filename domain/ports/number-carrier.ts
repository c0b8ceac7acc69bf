/** The phone numbers of a carrier: how they are searched, ordered and given back. */

export type OfferedNumber = {
  /** E.164. */
  e164: string
  /** Null: the carrier names no price in US dollars. */
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
  /** Numbers of the United States that are for sale. */
  search(wanted: NumberSearch): Promise<OfferedNumber[]>
  /** Null: the number is not for sale. */
  offerOf(e164: string): Promise<OfferedNumber | null>
  /** `reference` finds the order again when its answer was lost. */
  order(e164: string, reference: string): Promise<NumberOrder>
  /** Null: the carrier has no such order. */
  findOrder(order: { id: string | null; reference: string }): Promise<NumberOrder | null>
  /** The id of a number that was bought. Null: the carrier has sold it to nobody here. */
  resourceIdOf(e164: string): Promise<string | null>
  /** A number that is gone already counts as given back. */
  release(resourceId: string): Promise<void>
}

/** `unavailable`: the number is not for sale. `failed`: nothing was done. `unknown`: the request may have been done. */
export type NumberFailure = 'unavailable' | 'failed' | 'unknown'

export class NumberCarrierError extends Error {
  readonly failure: NumberFailure

  constructor(failure: NumberFailure, options: { cause?: unknown } = {}) {
    super(`number ${failure}`, options)
    this.name = 'NumberCarrierError'
    this.failure = failure
  }
}
