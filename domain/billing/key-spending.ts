/** Spending by keys with a budget, and the events about their budgets. */
import type { Budget } from '../records/organization.ts'

/** A live (not test) API key's spending in its budget's current period. */
export type KeySpending = {
  keyId: string
  name: string
  budget: Budget
  /** `2026-11-24`, `2026-11` or `total`, in UTC. */
  period: string
  spentMicroUsd: number
  /** Budget reserved for open requests. */
  reservedMicroUsd: number
  /** The time when spending reached 80 %. Null before that. */
  warnedAtMs: number | null
  /** The time when the budget was used up or the first request was refused. Null before that. */
  exhaustedAtMs: number | null
}

export interface KeyBudgets {
  read(organizationId: string): Promise<readonly KeySpending[]>
  /** Sets the key's budget. Null removes it. Resolves with false if no active key has this id. */
  set(organizationId: string, keyId: string, budget: Budget | null): Promise<boolean>
}

/** `warned`: the key has spent 80 % of its budget. `exhausted`: it has no budget left. */
export type BudgetEvent = { organizationId: string; keyId: string; period: string; event: 'warned' | 'exhausted' }

export interface BudgetEvents {
  /** Reports all unreported events to the operator. */
  report(): Promise<void>
  /** Returns the counts of events reported by this process. */
  reported(): Readonly<Record<BudgetEvent['event'], number>>
  /** Deletes spending from old periods. */
  reap(): Promise<void>
}
