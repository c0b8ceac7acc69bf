/** The spending of keys with a budget, and the events of their budgets. */
import type { Budget } from '../records/organization.ts'

/** A live key with a budget, in the period that it is now. */
export type KeySpending = {
  keyId: string
  name: string
  budget: Budget
  /** `2026-11-24`, `2026-11` or `total`, in UTC. */
  period: string
  spentMicroUsd: number
  /** Set aside for requests that are under way. */
  reservedMicroUsd: number
  /** When 80 % were spent; null: they are not. */
  warnedAtMs: number | null
  /** When all was spent, or the first request was refused; null: neither has happened. */
  exhaustedAtMs: number | null
}

export interface KeyBudgets {
  read(organizationId: string): Promise<readonly KeySpending[]>
  /** Null takes the budget away. False: there is no such live key. */
  set(organizationId: string, keyId: string, budget: Budget | null): Promise<boolean>
}

/** The budget of a key was spent to 80 %, or wholly. */
export type BudgetEvent = { organizationId: string; keyId: string; period: string; event: 'warned' | 'exhausted' }

export interface BudgetEvents {
  /** Reports to the operator the events that no process has reported. */
  report(): Promise<void>
  /** How many this process has reported. */
  reported(): Readonly<Record<BudgetEvent['event'], number>>
  /** Deletes old periods. */
  reap(): Promise<void>
}
