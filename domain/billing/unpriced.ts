import type { Price } from '../ports/model.ts'
import type { Caller } from '../records/organization.ts'

export type UnpricedPolicy = {
  /** Whether a model whose price is not known takes some credit to be asked. Absent: it takes none. */
  unpricedNeedsCredit?: boolean
}

/** Test keys pay nothing, at any price. */
export function unpricedNeedsCredit(policy: UnpricedPolicy, { test }: Caller): boolean {
  return policy.unpricedNeedsCredit === true && !test
}

/** Whether a price is missing before the quantities of a request are known. */
export function isUnpriced(prices: readonly Price[]): boolean {
  return prices.length === 0 || prices.some(({ microUsd }) => microUsd === null)
}
