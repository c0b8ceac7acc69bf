import type { KeyUse } from '../idempotency/idempotency.ts'
import type { Stage } from '../ports/model.ts'
import type { Caller } from '../records/organization.ts'
import type { Choice } from '../routing/choice.ts'
import type { CreditRefusal, KeyBudget } from './budget.ts'

export type Quantity = { unit: string; amount: number }

/**
 * `byok`: the attempt used the organization's provider key. The provider bills the organization, so it costs 0 here.
 */
export type KeySource = 'platform' | 'byok'

/** One successful or failed attempt. */
export type LedgerAttempt = {
  attemptId: string
  provider: string
  model: string
  /** `succeeded`, or the failure's class. */
  outcome: string
  startedAtMs: number
  durationMs: number
  /** From the attempt's start. Null if no media came, or if the answer came at once. */
  firstByteMs: number | null
  quantities: readonly Quantity[]
  /** Null if the price is unknown. Unknown is not 0. */
  costMicroUsd: number | null
  /** The price's publisher and date. Null if no price was needed. */
  priceSource: string | null
  keySource: KeySource
}

/** Ids, route, times, quantities and cost; never content. */
export type LedgerRow = {
  requestId: string
  attemptId: string | null
  organizationId: string
  keyId: string
  /** True if the key is a test key. */
  test: boolean
  operation: string
  /** The request is a part of this call. */
  callId: string | null
  stage: Stage
  provider: string | null
  model: string | null
  outcome: string
  startedAtMs: number
  durationMs: number
  firstByteMs: number | null
  quantities: readonly Quantity[]
  /** Null if the price is unknown. Unknown is not 0. */
  costMicroUsd: number | null
  /** In the order of their starts. */
  attempts: readonly LedgerAttempt[]
}

export type Settlement = {
  row: LedgerRow
  /** The choice explains the request's route. */
  choice: Choice
  /** Absent on surfaces without an idempotency key. */
  use?: KeyUse
  status: 'succeeded' | 'failed'
  /** The sum taken by `Credit.reserve` for this request. The difference to the cost goes back. */
  reservedMicroUsd: number
  /** The request counts for this budget. Absent if its key has no budget. */
  budget?: KeyBudget
}

export interface Ledger {
  /**
   * Ends the request's key, writes its rows and moves the credit, a little later and in one batch. If a settlement
   * cannot be written, it is logged.
   */
  settle(settlement: Settlement): void
}

export interface Credit {
  /** Null if the balance is above 0 and the key's budget is not used up. */
  refusal(caller: Caller): Promise<CreditRefusal | null>
  /**
   * Takes the worst case from the organization's balance and from the key's budget, or nothing from either. Null if
   * both cover it. 0 always succeeds without a query.
   */
  reserve(
    organizationId: string,
    requestId: string,
    microUsd: number,
    budget?: KeyBudget | null,
  ): Promise<CreditRefusal | null>
  /** Gives a request's reservation back if the request ended before dispatch. */
  cancel(organizationId: string, requestId: string, microUsd: number): Promise<void>
}
