import { creditFault } from '../billing/budget.ts'
import type { LedgerAttempt, LedgerRow, Quantity, Settlement } from '../billing/ledger.ts'
import { costMicroUsd, priceSourceOf } from '../billing/price.ts'
import { labelOf } from '../catalog/catalog.ts'
import type { KeyUse } from '../idempotency/idempotency.ts'
import type { Fault } from '../records/fault.ts'
import { type Admission, logged } from './admission.ts'
import type { Failure, Served, Unserved } from './attempt.ts'
import { anySent } from './outcome.ts'
import type { DispatchDeps, Plan, RequestContext } from './request.ts'

type BillDeps = Pick<DispatchDeps, 'clock' | 'log' | 'metrics' | 'ledger' | 'idempotency' | 'credit'>

/** `outcome` is that of the attempt. `firstByteMs` counts from the start of the attempt; null where there was no stream, or no media. */
export type Answered = {
  served: Omit<Served<unknown>, 'value'>
  outcome: string
  durationMs: number
  firstByteMs: number | null
}

/** The end of one attempt, and its bill. */
type AttemptResult = Pick<
  LedgerAttempt,
  'outcome' | 'durationMs' | 'firstByteMs' | 'quantities' | 'costMicroUsd' | 'priceSource'
>

/** The ledger's side of a dispatched request: writes its rows, ends its key and gives back the rest of the reservation. */
export class Bill {
  readonly #deps: BillDeps
  readonly #context: RequestContext
  readonly #plan: Pick<Plan<unknown>, 'ask'>
  readonly #admission: Admission
  #reservedMicroUsd: number
  #settled = false

  constructor(deps: BillDeps, context: RequestContext, plan: Pick<Plan<unknown>, 'ask'>, admission: Admission) {
    this.#deps = deps
    this.#context = context
    this.#plan = plan
    this.#admission = admission
    this.#reservedMicroUsd = admission.reservedMicroUsd
  }

  /** Takes another slice for a stream that goes on. Throws the fault credit_exhausted. 0 always succeeds without a query. */
  async reserve(microUsd: number): Promise<void> {
    if (microUsd === 0) return
    const { requestId, caller } = this.#context
    const organizationId = caller.organization.id
    const { credit, log, metrics } = this.#deps
    const refusal = await credit.reserve(organizationId, requestId, microUsd, this.#admission.budget)
    if (refusal !== null) {
      metrics.creditRefusal(this.#plan.ask.stage)
      throw creditFault('credit_exhausted', refusal, caller)
    }
    // The request was settled while the credit answered, so nothing would give this slice back later.
    if (this.#settled)
      await logged(log, this.#context, 'credit not given back', credit.cancel(organizationId, requestId, microUsd))
    else this.#reservedMicroUsd += microUsd
  }

  /** Settles a request that a provider answered, wholly or in part. It does not wait for the ledger, because the answer is on its way. */
  close(answered: Answered, outcome: string, quantities: Quantity[]): void {
    const { served, durationMs, firstByteMs } = answered
    const { earlier, row, ownKeyId, path } = served
    const costMicroUsd = costOf(served, quantities)
    this.#deps.metrics.usage(this.#plan.ask.stage, row.provider.id, labelOf(row), quantities, costMicroUsd)
    const priceSource = ownKeyId === null ? priceSourceOf(row.prices[path]) : null
    const result = { outcome: answered.outcome, durationMs, firstByteMs, quantities, costMicroUsd, priceSource }
    const last = this.#attempt(served, result)
    const attempts = earlier.length === 0 ? [last] : [...earlier.map((failure) => this.#before(failure)), last]
    const waitedMs = served.startedMs - this.#admission.startedMs
    const ledgerRow = this.#row(outcome, attempts, firstByteMs === null ? null : waitedMs + firstByteMs)
    this.#settle(ledgerRow, outcome === 'succeeded' ? 'succeeded' : 'failed', this.#admission.use)
  }

  /** Settles a request that no provider answered. Where not a byte was sent, the key is given back before the caller learns that it may use it again. */
  async unserved(unserved: Unserved, fault: Fault): Promise<void> {
    const attempts = unserved.failures.map((failure) => this.#failed(failure))
    const spent = anySent(unserved)
    if (!spent) await this.#releaseKey()
    this.#settle(this.#row(fault.kind, attempts, null), 'failed', spent ? this.#admission.use : undefined)
  }

  /** The request after its last attempt. It costs what that one costs: the organization pays for the answer. `firstByteMs` counts from the start of the request. */
  #row(outcome: string, attempts: LedgerAttempt[], firstByteMs: number | null): LedgerRow {
    const { caller, requestId, operation, callId = null } = this.#context
    const durationMs = this.#deps.clock.monotonicMs() - this.#admission.startedMs
    const last = attempts.at(-1)
    return {
      requestId,
      attemptId: last?.attemptId ?? null,
      organizationId: caller.organization.id,
      keyId: caller.keyId,
      test: caller.test,
      operation,
      callId,
      stage: this.#plan.ask.stage,
      provider: last?.provider ?? null,
      model: last?.model ?? null,
      outcome,
      startedAtMs: this.#deps.clock.nowMs() - durationMs,
      durationMs,
      firstByteMs,
      quantities: last?.quantities ?? [],
      costMicroUsd: last ? last.costMicroUsd : 0,
      attempts,
    }
  }

  /** An attempt before the one that answered. No provider says how much it had done for one that was cancelled. */
  #before(failure: Failure): LedgerAttempt {
    const isCut = failure.error.errorClass === 'cancelled' && failure.ownKeyId === null
    return this.#failed(failure, isCut && !isFree(failure) ? null : 0)
  }

  /** A failed attempt gave no media, so there is nothing to bill. */
  #failed(failure: Failure, costMicroUsd: 0 | null = 0): LedgerAttempt {
    const { error, durationMs } = failure
    const nothing = { firstByteMs: null, quantities: [], costMicroUsd, priceSource: null }
    return this.#attempt(failure, { outcome: error.errorClass, durationMs, ...nothing })
  }

  /** The fields are written out one by one, because a spread costs several times as much and every request pays for it. */
  #attempt(
    { row, attemptId, ownKeyId, startedMs }: Failure | Answered['served'],
    { outcome, durationMs, firstByteMs, quantities, costMicroUsd, priceSource }: AttemptResult,
  ): LedgerAttempt {
    const { clock } = this.#deps
    return {
      attemptId,
      provider: row.provider.id,
      model: row.model.id,
      outcome,
      startedAtMs: clock.nowMs() - (clock.monotonicMs() - startedMs),
      durationMs,
      firstByteMs,
      quantities,
      costMicroUsd,
      priceSource,
      keySource: ownKeyId === null ? 'platform' : 'byok',
    }
  }

  #settle(row: LedgerRow, status: Settlement['status'], use: KeyUse | undefined): void {
    const settlement: Settlement = {
      row,
      choice: this.#admission.choice,
      status,
      reservedMicroUsd: this.#reservedMicroUsd,
    }
    if (use) settlement.use = use
    if (this.#admission.budget) settlement.budget = this.#admission.budget
    this.#settled = true
    this.#deps.ledger.settle(settlement)
  }

  async #releaseKey(): Promise<void> {
    const { use } = this.#admission
    if (use) await logged(this.#deps.log, this.#context, 'key not released', this.#deps.idempotency.release(use))
  }
}

/** Whether every price is known to be 0. */
function isFree({ row, path }: Failure): boolean {
  const prices = row.prices[path]
  return prices.length > 0 && prices.every(({ microUsd }) => microUsd === 0)
}

/** The cost of an attempt in micro-USD. It is 0 with an organization's own key, which the provider bills. Null: the price is unknown. */
export function costOf(
  { row, path, ownKeyId }: Pick<Served<unknown>, 'row' | 'path' | 'ownKeyId'>,
  quantities: readonly Quantity[],
): number | null {
  return ownKeyId === null ? costMicroUsd(row.prices[path], quantities) : 0
}
