import type { Fault } from '../fault.ts'
import type { Idempotency, KeyUse } from '../idempotency/idempotency.ts'
import type { Clock, Log } from '../ports.ts'
import type { Unserved } from '../routing/attempts.ts'
import type { Row } from '../routing/catalog.ts'
import type { Stage } from '../routing/model.ts'
import { anySent } from '../routing/outcome.ts'
import type { Credit, Ledger, LedgerEntry, Quantity, Settlement } from './ledger.ts'

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
}

/** `firstByteMs` counts from the start of the request; null where there was no stream. */
export type Answered = { row: Row; attemptId: string; firstByteMs: number | null }

type Route = Pick<LedgerEntry, 'attemptId' | 'provider' | 'model' | 'firstByteMs'>

/** The ledger's side of a dispatched request: one row, its key ended, the difference of the reservation given back. */
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
  close(answered: Answered, outcome: string, quantities: Quantity[], costMicroUsd: number | null): void {
    const { row, attemptId, firstByteMs } = answered
    const route = { attemptId, provider: row.provider.id, model: row.model.id, firstByteMs }
    const entry = this.#entry(outcome, route, quantities, costMicroUsd)
    this.#settle(entry, outcome === 'succeeded' ? 'succeeded' : 'failed', this.#opening.use)
  }

  /** None answered. Where not a byte was sent the key is given back, before the caller learns that it may use it again. */
  async unserved(unserved: Unserved, fault: Fault): Promise<void> {
    const last = unserved.failures.at(-1)
    const route = {
      attemptId: last?.attemptId ?? null,
      provider: last?.report.provider ?? null,
      model: last?.report.model ?? null,
      firstByteMs: null,
    }
    const spent = anySent(unserved)
    if (!spent) await this.#releaseKey()
    this.#settle(this.#entry(fault.code, route, [], 0), 'failed', spent ? this.#opening.use : undefined)
  }

  #entry(outcome: string, route: Route, quantities: Quantity[], costMicroUsd: number | null): LedgerEntry {
    const { requestId, organizationId, keyId, operation, stage, startedMs } = this.#opening
    const durationMs = this.#deps.clock.monotonicMs() - startedMs
    return {
      requestId,
      attemptId: route.attemptId,
      organizationId,
      keyId,
      operation,
      stage,
      provider: route.provider,
      model: route.model,
      outcome,
      startedAtMs: this.#deps.clock.nowMs() - durationMs,
      durationMs,
      firstByteMs: route.firstByteMs,
      quantities,
      costMicroUsd,
    }
  }

  #settle(entry: LedgerEntry, status: Settlement['status'], use: KeyUse | undefined): void {
    const { requestId } = this.#opening
    const reservedMicroUsd = this.#reservedMicroUsd
    this.#settled = true
    const settled = this.#deps.ledger.settle(
      use ? { entry, status, reservedMicroUsd, use } : { entry, status, reservedMicroUsd },
    )
    void logged(this.#deps.log, requestId, 'settlement failed', settled)
  }

  async #releaseKey(): Promise<void> {
    const { use, requestId } = this.#opening
    if (use) await logged(this.#deps.log, requestId, 'key not released', this.#deps.idempotency.release(use))
  }
}

/** For what must not change the answer: its failure is logged and goes no further. */
export async function logged(log: Log, requestId: string, message: string, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (err) {
    log.error({ requestId, err }, message)
  }
}
