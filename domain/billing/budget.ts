/**
 * A key's budget limits the cost of the key's requests and calls in a period. The organization's credit applies too.
 */
import { Fault, type FaultOf } from '../records/fault.ts'
import type { Budget, Caller } from '../records/organization.ts'

/** A budget with the name of its current period: a UTC day (`2026-11-24`), a UTC month (`2026-11`) or `total`. */
export type KeyBudget = { keyId: string; period: string; microUsd: number }

/** Names the limit that refused an amount: the organization's credit or the key's budget. */
export type CreditRefusal = 'credit' | 'budget'

/**
 * Returns the key's budget for a request that starts now, or null. The request counts for this period even if it ends
 * in the next period.
 */
export function budgetOf({ keyId, policy: { budget } }: Caller, nowMs: number): KeyBudget | null {
  return budget ? { keyId, period: periodOf(budget.period, nowMs), microUsd: budget.microUsd } : null
}

const nameLengths = { day: '2026-11-24'.length, month: '2026-11'.length }

function periodOf(period: Budget['period'], nowMs: number): string {
  return period === 'total' ? period : new Date(nowMs).toISOString().slice(0, nameLengths[period])
}

type CreditKind = 'credit_too_low' | 'no_credit_to_stream' | 'credit_exhausted'

/**
 * Makes the fault for a refusal. If the budget refused, the fault contains the budget, because more credit would not
 * help.
 */
export function creditFault(kind: CreditKind, refusal: CreditRefusal, { policy: { budget } }: Caller): Fault {
  const data: FaultOf<CreditKind> = { kind }
  return new Fault(refusal === 'budget' && budget ? { ...data, budget } : data)
}
