/** The budget of a key: the most that its requests and calls may cost in a period. It is counted beside the credit of the organization. */
import { Fault, type FaultOf } from '../records/fault.ts'
import type { Budget, Caller } from '../records/organization.ts'

/** A budget with the period that it is now: a UTC day (`2026-11-24`), a UTC month (`2026-11`) or `total`. */
export type KeyBudget = { keyId: string; period: string; microUsd: number }

/** The part that did not cover an amount: the balance of the organization, or the budget of the key. */
export type CreditRefusal = 'credit' | 'budget'

/** A request counts for the period in which it began, also when it ends in the next one. */
export function budgetOf({ keyId, policy: { budget } }: Caller, nowMs: number): KeyBudget | null {
  return budget ? { keyId, period: periodOf(budget.period, nowMs), microUsd: budget.microUsd } : null
}

const nameLengths = { day: '2026-11-24'.length, month: '2026-11'.length }

function periodOf(period: Budget['period'], nowMs: number): string {
  return period === 'total' ? period : new Date(nowMs).toISOString().slice(0, nameLengths[period])
}

type CreditKind = 'credit_too_low' | 'no_credit_to_stream' | 'credit_exhausted'

/** The fault names the budget where that is what refused, because credit would not help then. */
export function creditFault(kind: CreditKind, refusal: CreditRefusal, { policy: { budget } }: Caller): Fault {
  const data: FaultOf<CreditKind> = { kind }
  return new Fault(refusal === 'budget' && budget ? { ...data, budget } : data)
}
