/** A key's budget limits its requests' and calls' cost in a period. It is counted beside the organization's credit. */
import { Fault, type FaultOf } from '../records/fault.ts'
import type { Budget, Caller } from '../records/organization.ts'

/** A budget with its current period: a UTC day (`2026-11-24`), a UTC month (`2026-11`) or `total`. */
export type KeyBudget = { keyId: string; period: string; microUsd: number }

/** The organization's balance or the key's budget did not cover an amount. */
export type CreditRefusal = 'credit' | 'budget'

/** A request counts for the period of its start, even if it ends in the next period. */
export function budgetOf({ keyId, policy: { budget } }: Caller, nowMs: number): KeyBudget | null {
  return budget ? { keyId, period: periodOf(budget.period, nowMs), microUsd: budget.microUsd } : null
}

const nameLengths = { day: '2026-11-24'.length, month: '2026-11'.length }

function periodOf(period: Budget['period'], nowMs: number): string {
  return period === 'total' ? period : new Date(nowMs).toISOString().slice(0, nameLengths[period])
}

type CreditKind = 'credit_too_low' | 'no_credit_to_stream' | 'credit_exhausted'

/** If the budget refused, the fault names the budget, because more credit would not help. */
export function creditFault(kind: CreditKind, refusal: CreditRefusal, { policy: { budget } }: Caller): Fault {
  const data: FaultOf<CreditKind> = { kind }
  return new Fault(refusal === 'budget' && budget ? { ...data, budget } : data)
}
