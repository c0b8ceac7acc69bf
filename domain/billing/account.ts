import type { Stage } from '../catalog/model.ts'
import type { Failure, Served, Unserved } from '../dispatch/attempts.ts'
import { anySent } from '../dispatch/outcome.ts'
import type { Fault } from '../fault.ts'
import type { Idempotency, KeyUse } from '../idempotency/idempotency.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { Choice } from '../routing/chooser.ts'
import type { AttemptEntry, Credit, Ledger, LedgerEntry, Quantity, Settlement } from './ledger.ts'
import { costMicroUsd, priceSourceOf } from './price.ts'

export type AccountDeps = { clock: Clock; log: Log; ledger: Ledger; idempotency: Idempotency; credit: Credit }

/** What is known of a request once it is dispatched. */
export type Opening = {
  requestId: string
  organizationId: string
  keyId: string
  operation: string
  stage: Stage
  /** Clock.monotonicMs() */
  startedMs: number
  reservedMicroUsd: number
  use: KeyUse | undefined
  choice: Choice
}

/** `outcome` is that of the attempt. `firstByteMs` counts from the start of the attempt; null where there was no stream, or no media. */
export type Answered = {
  served: Omit<Served<unknown>, 'value'>
  outcome: string
  durationMs: number
  firstByteMs: number | null
}

/** The ledger's side of a dispatched request: its rows, its key ended, the difference of the reservation given back. */
export class Account {
  readonly #deps: AccountDeps
  readonly #opening: Opening
  #reservedMicroUsd: number
  #settled = false

  constructor(deps: AccountDeps, opening: Opening) {
    this.#deps = deps
    this.#opening = opening
    this.#reservedMicroUsd = opening.reservedMicroUsd
  }

  /** Takes another slice for a session that goes on. False: the credit does not cover it. 0 asks nobody. */
  async reserve(microUsd: number): Promise<boolean> {
    if (microUsd === 0) return true
    const { requestId, organizationId } = this.#opening
    const { credit, log } = this.#deps
    if (!(await credit.reserve(organizationId, requestId, microUsd))) return false
    // Settled while the answer was on its way: nothing would give this slice back any more.
    if (this.#settled)
      await logged(log, requestId, 'credit not given back', credit.cancel(organizationId, requestId, microUsd))
    else this.#reservedMicroUsd += microUsd
    return true
  }

  /** A provider answered, wholly or in part. Nobody waits for the ledger: the answer is on its way. */
  close(answered: Answered, outcome: string, quantities: Quantity[]): void {
    const { served, durationMs, firstByteMs } = answered
    const { earlier, row, ownKeyId, path } = served
    const cost = costOf(served, quantities)
    const priceSource = ownKeyId === null ? priceSourceOf(row.prices[path]) : null
    const last = this.#attempt(served, answered.outcome, durationMs, firstByteMs, quantities, cost, priceSource)
    const attempts = earlier.length === 0 ? [last] : [...earlier.map((failure) => this.#failed(failure)), last]
    const waitedMs = served.startedMs - this.#opening.startedMs
    const entry = this.#entry(outcome, attempts, firstByteMs === null ? null : waitedMs + firstByteMs)
    this.#settle(entry, outcome === 'succeeded' ? 'succeeded' : 'failed', this.#opening.use)
  }

  /** None answered. Where not a byte was sent the key is given back, before the caller learns that it may use it again. */
  async unserved(unserved: Unserved, fault: Fault): Promise<void> {
    const attempts = unserved.failures.map((failure) => this.#failed(failure))
    const spent = anySent(unserved)
    if (!spent) await this.#releaseKey()
    this.#settle(this.#entry(fault.code, attempts, null), 'failed', spent ? this.#opening.use : undefined)
  }

  /** The request as its last attempt left it: those before it consumed nothing that is billed. `firstByteMs` counts from its start. */
  #entry(outcome: string, attempts: AttemptEntry[], firstByteMs: number | null): LedgerEntry {
    const { requestId, organizationId, keyId, operation, stage, startedMs } = this.#opening
    const durationMs = this.#deps.clock.monotonicMs() - startedMs
    const last = attempts.at(-1)
    return {
      requestId,
      attemptId: last?.attemptId ?? null,
      organizationId,
      keyId,
      operation,
      stage,
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

  /** No media came of it, so there is nothing to bill. */
  #failed(failure: Failure): AttemptEntry {
    return this.#attempt(failure, failure.error.errorClass, failure.durationMs, null, [], 0, null)
  }

  /** Written out, field by field, because every request pays for it: an object that is spread into another costs several times as much. */
  #attempt(
    { row, attemptId, ownKeyId, startedMs }: Failure | Answered['served'],
    outcome: string,
    durationMs: number,
    firstByteMs: number | null,
    quantities: readonly Quantity[],
    costMicroUsd: number | null,
    priceSource: string | null,
  ): AttemptEntry {
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

  #settle(entry: LedgerEntry, status: Settlement['status'], use: KeyUse | undefined): void {
    const settlement: Settlement = {
      entry,
      choice: this.#opening.choice,
      status,
      reservedMicroUsd: this.#reservedMicroUsd,
    }
    if (use) settlement.use = use
    this.#settled = true
    this.#deps.ledger.settle(settlement)
  }

  async #releaseKey(): Promise<void> {
    const { use, requestId } = this.#opening
    if (use) await logged(this.#deps.log, requestId, 'key not released', this.#deps.idempotency.release(use))
  }
}

/** What an attempt costs here. A provider bills an organization's own key itself. Null: the price is unknown. */
export function costOf(
  { row, path, ownKeyId }: Pick<Served<unknown>, 'row' | 'path' | 'ownKeyId'>,
  quantities: readonly Quantity[],
): number | null {
  return ownKeyId === null ? costMicroUsd(row.prices[path], quantities) : 0
}

/** For what must not change the answer: its failure is logged and goes no further. */
export async function logged(log: Log, requestId: string, message: string, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (err) {
    log.error({ requestId, err }, message)
  }
}
