import type { EndLease } from '../access/limits.ts'
import { ownKeyIdOf } from '../access/provider-keys.ts'
import { takeLease } from '../access/take-lease.ts'
import { budgetOf, creditFault, type KeyBudget } from '../billing/budget.ts'
import { costMicroUsd } from '../billing/price.ts'
import { unpricedNeedsCredit } from '../billing/unpriced.ts'
import type { KeyUse } from '../idempotency/idempotency.ts'
import { inProgress, requireAdmitted } from '../idempotency/require-admitted.ts'
import type { Log } from '../ports/system.ts'
import { Fault } from '../records/fault.ts'
import type { Choice } from '../routing/choice.ts'
import type { DispatchDeps, Plan, RequestContext } from './request.ts'

/** The result of admitting a request. Everything in it is granted before the first attempt. */
export type Admission = {
  /** Measured with Clock.monotonicMs(). */
  startedMs: number
  choice: Choice
  /** The candidates with a cost that the available credit covers. */
  candidates: Choice['candidates']
  /** The reserved credit. When the request is settled, the reservation minus the cost is released. */
  reservedMicroUsd: number
  /** The budget that the request counts against. Null if its key has no budget. */
  budget: KeyBudget | null
  use: KeyUse | undefined
  /** Call this once, when the dispatch has ended. It ends the request's concurrency lease. */
  end: () => void
}

/**
 * Admits a single request. Here "key" is the idempotency key. If the request can be routed and needs no reservation,
 * one database commit stores the new key as `dispatched`. Otherwise one commit stores the key as `admitted` and a
 * second commit as `dispatched`, and the credit is reserved between them. If this function throws a Fault, the lease,
 * the key and the credit are released.
 */
export async function admitRequest<T>(deps: DispatchDeps, context: RequestContext, plan: Plan<T>): Promise<Admission> {
  const startedMs = deps.clock.monotonicMs()
  if (!deps.ledger.hasRoom()) throw new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1 })
  const lease = leaseOf(deps, context)
  const end = lease instanceof Promise ? await lease : lease
  try {
    const use = context.key && useOf(context, context.key)
    const choice = deps.chooser.choose(plan.ask)
    const worstMicroUsd = worstCost(deps, choice, context, plan)
    const budget = budgetOf(context.caller, deps.clock.nowMs())
    const isFree = choice.candidates.length > 0 && worstMicroUsd === 0
    if (use) requireAdmitted(await deps.idempotency.admit(use, isFree ? 'dispatched' : 'admitted'))
    if (isFree) return { startedMs, choice, candidates: choice.candidates, reservedMicroUsd: 0, budget, use, end }
    const paid = await reserve(deps, context, use, choice, worstMicroUsd, budget)
    return { startedMs, choice, ...paid, budget, use, end }
  } catch (error) {
    end()
    throw error
  }
}

function leaseOf({ earlyLeases, concurrency }: DispatchDeps, context: RequestContext): EndLease | Promise<EndLease> {
  if (context.callId !== undefined) return withoutLease
  return earlyLeases?.takeOver(context.requestId) ?? takeLease(concurrency, context.caller, 'request')
}

const withoutLease = () => {}

function useOf(context: RequestContext, key: Pick<KeyUse, 'keyDigest' | 'contentHash'>): KeyUse {
  return {
    organizationId: context.caller.organization.id,
    operation: context.operation,
    keyDigest: key.keyDigest,
    contentHash: key.contentHash,
    requestId: context.requestId,
  }
}

/**
 * Reserves the credit between the idempotency key's two commits. If this fails, the credit and the idempotency key are
 * released.
 */
async function reserve(
  deps: DispatchDeps,
  context: RequestContext,
  use: KeyUse | undefined,
  choice: Choice,
  worstMicroUsd: number,
  budget: KeyBudget | null,
): Promise<Pick<Admission, 'candidates' | 'reservedMicroUsd'>> {
  const { credit, idempotency, log, metrics } = deps
  const { requestId } = context
  const organizationId = context.caller.organization.id
  let reservedMicroUsd = 0
  let ownedUse = use
  try {
    let { candidates } = choice
    if (candidates.length === 0) throw deps.chooser.refusal(choice)
    const refusal = worstMicroUsd === 0 ? null : await credit.reserve(organizationId, requestId, worstMicroUsd, budget)
    if (refusal === null) reservedMicroUsd = worstMicroUsd
    // An attempt with the organization's provider key needs no credit, so such candidates remain.
    else candidates = candidates.filter((candidate) => isOwn(candidate, context))
    if (refusal !== null && candidates.length === 0) {
      metrics.creditRefusal(choice.ask.stage)
      throw creditFault('credit_too_low', refusal, context.caller)
    }
    if (use && !(await idempotency.dispatch(use))) {
      // The idempotency key's lease ran out, and another copy of the request took the idempotency key over. So this
      // request must not release it.
      ownedUse = undefined
      throw inProgress(1)
    }
    return { candidates, reservedMicroUsd }
  } catch (error) {
    if (reservedMicroUsd > 0)
      await logged(log, context, 'credit not given back', credit.cancel(organizationId, requestId, reservedMicroUsd))
    if (ownedUse) await logged(log, context, 'key not released', idempotency.release(ownedUse))
    throw error
  }
}

function isOwn({ row }: Choice['candidates'][number], { caller }: RequestContext): boolean {
  return ownKeyIdOf(row.provider, caller.organization.ownKeys) !== null
}

/**
 * Returns the amount to reserve. Any candidate may answer, so the amount is the cost at the most expensive candidate.
 * For an attempt with an organization's provider key, nothing is reserved. If a price is unknown, 1 micro-USD is
 * reserved if unpriced models need credit, else nothing.
 */
function worstCost<T>(deps: DispatchDeps, { candidates }: Choice, context: RequestContext, plan: Plan<T>): number {
  const { path, stage } = plan.ask
  const unpricedMicroUsd = unpricedNeedsCredit(deps, context.caller) ? leastMicroUsd : 0
  const paid = candidates
    .slice(0, deps.limits[stage].attemptsMax)
    .filter((candidate) => !isOwn(candidate, context))
    .filter(({ row }) => unpricedMicroUsd > 0 || row.prices[path].some(({ microUsd }) => microUsd))
  if (paid.length === 0) return 0
  const quantities = plan.worstCase()
  return Math.max(...paid.map(({ row }) => costMicroUsd(row.prices[path], quantities) ?? unpricedMicroUsd))
}

const leastMicroUsd = 1

/** Awaits `work`. A failure is only logged, because it must not change the answer. */
export async function logged(
  log: Log,
  { requestId, trace }: Pick<RequestContext, 'requestId' | 'trace'>,
  message: string,
  work: Promise<void>,
): Promise<void> {
  try {
    await work
  } catch (err) {
    log.error({ requestId, ...trace?.logFields, err }, message)
  }
}
