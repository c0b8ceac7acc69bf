import type { Price } from '../ports/model.ts'
import type { Caller } from '../records/organization.ts'

export type UnpricedPolicy = {
  /**
   * If true, a model with an unknown price can be called only if the organization's credit is above 0. If absent, no
   * credit is needed.
   */
  unpricedNeedsCredit?: boolean
}

/** Returns true if a model with an unknown price needs credit. Test keys pay nothing, so they need no credit. */
export function unpricedNeedsCredit(policy: UnpricedPolicy, { test }: Caller): boolean {
  return policy.unpricedNeedsCredit === true && !test
}

/** Returns true if any price is missing. All prices count, because the request's quantities are not known yet. */
export function isUnpriced(prices: readonly Price[]): boolean {
  return prices.length === 0 || prices.some(({ microUsd }) => microUsd === null)
}
