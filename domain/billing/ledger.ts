import type { KeyUse } from '../idempotency/idempotency.ts'
import type { Stage } from '../ports/model.ts'
import type { Caller } from '../records/organization.ts'
import type { Choice } from '../routing/choice.ts'
import type { CreditRefusal, KeyBudget } from './budget.ts'

export type Quantity = { unit: string; amount: number }

/**
 * `byok`: the attempt used the organization's provider key. The provider bills the organization, so the cost here is 0.
 */
export type KeySource = 'platform' | 'byok'

/** One attempt at a provider, successful or failed. */
export type LedgerAttempt = {
  attemptId: string
  provider: string
  model: string
  /** `succeeded`, or the failure's class. */
  outcome: string
  startedAtMs: number
  durationMs: number
  /**
   * The time from the attempt's start to the first media. Null if no media arrived, or if the whole answer arrived at
   * once.
   */
  firstByteMs: number | null
  quantities: readonly Quantity[]
  /** Null if the price is unknown. Null is not the same as 0. */
  costMicroUsd: number | null
  /** The source of the price and its date. Null if no price was needed. */
  priceSource: string | null
  keySource: KeySource
}

/** A request's ids, route, times, quantities and cost. It never contains content. */
export type LedgerRow = {
  requestId: string
  attemptId: string | null
  organizationId: string
  keyId: string
  /** True if the key is a test key. */
  test: boolean
  operation: string
  /** The call that made the request. Null if no call did. */
  callId: string | null
  stage: Stage
  provider: string | null
  model: string | null
  outcome: string
  startedAtMs: number
  durationMs: number
  firstByteMs: number | null
  quantities: readonly Quantity[]
  /** Null if the price is unknown. Null is not the same as 0. */
  costMicroUsd: number | null
  /** The attempts at providers, by start time. */
  attempts: readonly LedgerAttempt[]
}

export type Settlement = {
  row: LedgerRow
  /** Explains the request's route. */
  choice: Choice
  /** The request's use of an idempotency key. Absent in APIs without idempotency keys. */
  use?: KeyUse
  status: 'succeeded' | 'failed'
  /** The amount reserved by `Credit.reserve` for this request. If the cost is lower, the difference is released. */
  reservedMicroUsd: number
  /** The budget that bears the request's cost. Absent if the key has no budget. */
  budget?: KeyBudget
}

export interface Ledger {
  /**
   * Stores a request's outcome: marks its idempotency key as used, writes its ledger rows and changes the credit. This
   * happens a little later, in one batch with other requests. If a settlement cannot be written, it is logged.
   */
  settle(settlement: Settlement): void
  /**
   * Returns false if the database is unreachable and memory has no room for further settlements. Then no request may be
   * served.
   */
  hasRoom(): boolean
}

export interface Credit {
  /**
   * Resolves with null if the balance is above 0 and the key's budget is not used up. Otherwise resolves with the
   * cause, `credit` or `budget`.
   */
  refusal(caller: Caller): Promise<CreditRefusal | null>
  /**
   * Reserves the request's maximum cost from the organization's balance and from the key's budget. If either is too
   * low, nothing is reserved, and the promise resolves with the cause. Otherwise it resolves with null. An amount of 0
   * always succeeds without a query.
   */
  reserve(
    organizationId: string,
    requestId: string,
    microUsd: number,
    budget?: KeyBudget | null,
  ): Promise<CreditRefusal | null>
  /** Releases a request's reservation if the request ended before dispatch. */
  cancel(organizationId: string, requestId: string, microUsd: number): Promise<void>
}
