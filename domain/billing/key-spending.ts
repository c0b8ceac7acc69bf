/** Spending by keys with a budget, and their budget events. */
import type { Budget } from '../records/organization.ts'

/** A live key with a budget, in the budget's current period. */
export type KeySpending = {
  keyId: string
  name: string
  budget: Budget
  /** `2026-11-24`, `2026-11` or `total`, in UTC. */
  period: string
  spentMicroUsd: number
  /** Set aside for open requests. */
  reservedMicroUsd: number
  /** The time when spending reached 80 %, or null. */
  warnedAtMs: number | null
  /** The time when all was spent or the first request was refused, or null. */
  exhaustedAtMs: number | null
}

export interface KeyBudgets {
  read(organizationId: string): Promise<readonly KeySpending[]>
  /** Null removes the budget. Returns false if there is no such live key. */
  set(organizationId: string, keyId: string, budget: Budget | null): Promise<boolean>
}

/** A key has spent 80 % of its budget (`warned`), or has no budget left (`exhausted`). */
export type BudgetEvent = { organizationId: string; keyId: string; period: string; event: 'warned' | 'exhausted' }

export interface BudgetEvents {
  /** Reports all unreported events to the operator. */
  report(): Promise<void>
  /** The number of events reported by this process. */
  reported(): Readonly<Record<BudgetEvent['event'], number>>
  /** Deletes old periods. */
  reap(): Promise<void>
}
