import type { KeyUse } from '../idempotency/idempotency.ts'
import type { Stage } from '../ports/model.ts'
import type { Caller } from '../records/organization.ts'
import type { Choice } from '../routing/choice.ts'
import type { CreditRefusal, KeyBudget } from './budget.ts'

export type Quantity = { unit: string; amount: number }

/** `byok`: the attempt used the organization's own key. The provider bills the organization for it, so it costs nothing here. */
export type KeySource = 'platform' | 'byok'

/** One attempt, also one that failed. */
export type LedgerAttempt = {
  attemptId: string
  provider: string
  model: string
  /** `succeeded`, or the class of the failure. */
  outcome: string
  startedAtMs: number
  durationMs: number
  /** From the start of the attempt; null where no media came, or the answer came at once. */
  firstByteMs: number | null
  quantities: readonly Quantity[]
  /** Null: the price is unknown, which is not 0. */
  costMicroUsd: number | null
  /** The publisher of the price and its date; null where no price was needed. */
  priceSource: string | null
  keySource: KeySource
}

/** Ids, route, times, quantities and cost; never content. */
export type LedgerRow = {
  requestId: string
  attemptId: string | null
  organizationId: string
  keyId: string
  /** The request was made with a test key. */
  test: boolean
  operation: string
  /** The call that the request is a part of. */
  callId: string | null
  stage: Stage
  provider: string | null
  model: string | null
  outcome: string
  startedAtMs: number
  durationMs: number
  firstByteMs: number | null
  quantities: readonly Quantity[]
  /** Null: the price is unknown, which is not 0. */
  costMicroUsd: number | null
  /** In the order made. */
  attempts: readonly LedgerAttempt[]
}

export type Settlement = {
  row: LedgerRow
  /** Why the request went where it went. */
  choice: Choice
  /** Absent on surfaces without an idempotency key. */
  use?: KeyUse
  status: 'succeeded' | 'failed'
  /** The sum that `Credit.reserve` took for this request. The difference to the cost goes back. */
  reservedMicroUsd: number
  /** The budget that the request counts for. Absent: its key has none. */
  budget?: KeyBudget
}

export interface Ledger {
  /** Ends the request's key, writes its rows and moves the credit, in one batch and a little later. A settlement that cannot be written is logged. */
  settle(settlement: Settlement): void
}

export interface Credit {
  /** Null: the balance is above 0, and something is left of the budget of the key. */
  refusal(caller: Caller): Promise<CreditRefusal | null>
  /**
   * Takes the worst case from the organization's balance and from the budget of the key, or nothing from either. Null: both cover it. 0 always
   * succeeds without a query.
   */
  reserve(
    organizationId: string,
    requestId: string,
    microUsd: number,
    budget?: KeyBudget | null,
  ): Promise<CreditRefusal | null>
  /** Gives a reservation back for a request that ended before dispatch. */
  cancel(organizationId: string, requestId: string, microUsd: number): Promise<void>
}
