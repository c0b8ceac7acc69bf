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

/**
 * The attempt that has answered. `outcome` and `durationMs` describe this attempt and not the whole request.
 * `firstByteMs` counts from the attempt's start, and is null if the answer was not a stream or contained no media.
 */
export type Answered = {
  served: Omit<Served<unknown>, 'value'>
  outcome: string
  durationMs: number
  firstByteMs: number | null
}

/** The end of one attempt, with its cost. */
type AttemptResult = Pick<
  LedgerAttempt,
  'outcome' | 'durationMs' | 'firstByteMs' | 'quantities' | 'costMicroUsd' | 'priceSource'
>

/**
 * Settles a dispatched request: writes its rows, ends its idempotency key and gives back the rest of the reservation.
 */
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

  /**
   * Reserves more for an open stream. Throws the fault `credit_exhausted`. A reservation of 0 always succeeds without a
   * query.
   */
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
    // If the request was settled meanwhile, this amount must be released here, because no later code would release it.
    if (this.#settled)
      await logged(log, this.#context, 'credit not given back', credit.cancel(organizationId, requestId, microUsd))
    else this.#reservedMicroUsd += microUsd
  }

  /**
   * Settles a request after a whole or partial answer. It does not wait for the ledger, because the client is already
   * receiving the answer.
   */
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

  /**
   * Settles a request that no provider has answered. If no attempt sent anything to a provider, the idempotency key is
   * released first, so that the client can use the key again at once.
   */
  async unserved(unserved: Unserved, fault: Fault): Promise<void> {
    const attempts = unserved.failures.map((failure) => this.#failed(failure))
    const spent = anySent(unserved)
    if (!spent) await this.#releaseKey()
    this.#settle(this.#row(fault.kind, attempts, null), 'failed', spent ? this.#admission.use : undefined)
  }

  /**
   * Returns the request's ledger row. Its cost is the last attempt's cost, because the organization pays only for the
   * answer. `firstByteMs` counts from the request's start.
   */
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

  /**
   * Returns the ledger entry for an attempt before the answering attempt. If the attempt was cancelled and its model is
   * not free, its cost is unknown, because no provider reports the cost of a cancelled attempt.
   */
  #before(failure: Failure): LedgerAttempt {
    const isCut = failure.error.errorClass === 'cancelled' && failure.ownKeyId === null
    return this.#failed(failure, isCut && !isFree(failure) ? null : 0)
  }

  /** Returns the ledger entry for a failed attempt. It delivered no media, so it costs nothing. */
  #failed(failure: Failure, costMicroUsd: 0 | null = 0): LedgerAttempt {
    const { error, durationMs } = failure
    const nothing = { firstByteMs: null, quantities: [], costMicroUsd, priceSource: null }
    return this.#attempt(failure, { outcome: error.errorClass, durationMs, ...nothing })
  }

  /**
   * Returns the ledger entry. Its fields are set one by one, because a spread takes several times as long, and this
   * code runs for every request.
   */
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

/** Returns true if every price is known and 0. */
function isFree({ row, path }: Failure): boolean {
  const prices = row.prices[path]
  return prices.length > 0 && prices.every(({ microUsd }) => microUsd === 0)
}

/**
 * Returns an attempt's cost in micro-USD, or null if the price is unknown. With an organization's provider key it is 0,
 * because the provider bills the organization.
 */
export function costOf(
  { row, path, ownKeyId }: Pick<Served<unknown>, 'row' | 'path' | 'ownKeyId'>,
  quantities: readonly Quantity[],
): number | null {
  return ownKeyId === null ? costMicroUsd(row.prices[path], quantities) : 0
}
