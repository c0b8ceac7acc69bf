import type { Price } from '../ports/model.ts'
import type { Caller } from '../records/organization.ts'

export type UnpricedPolicy = {
  /** True: a model with an unknown price can be called only if there is some credit. Absent: no credit is needed. */
  unpricedNeedsCredit?: boolean
}

/** Test keys pay nothing, at any price. */
export function unpricedNeedsCredit(policy: UnpricedPolicy, { test }: Caller): boolean {
  return policy.unpricedNeedsCredit === true && !test
}

/** True if any price is missing. A request's quantities are not known yet at this time. */
export function isUnpriced(prices: readonly Price[]): boolean {
  return prices.length === 0 || prices.some(({ microUsd }) => microUsd === null)
}
