import type { EndLease, LeaseRefusal, Limits } from '../access/limits.ts'
import type { Caller } from '../access/organization.ts'
import { ownKeyIdOf } from '../access/provider-keys.ts'
import { Account, costOf, logged, type Opening } from '../billing/account.ts'
import type { Credit, Ledger, Quantity } from '../billing/ledger.ts'
import { costMicroUsd } from '../billing/price.ts'
import type { Row } from '../catalog/catalog.ts'
import type { Stage } from '../catalog/model.ts'
import { type AttemptReport, Fault } from '../fault.ts'
import { inProgress, requireAdmitted } from '../idempotency/admission.ts'
import type { Idempotency, KeyUse } from '../idempotency/idempotency.ts'
import type { ProviderPorts } from '../ports/provider.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { CancelSignal } from '../ports/system.ts'
import type { Ask } from '../routing/ask.ts'
import type { Choice, Chooser } from '../routing/chooser.ts'
import type { AttemptSignal } from './attempt-signal.ts'
import { type AttemptDeps, type AttemptLimits, attempt, type Failure, failureOf, type Served } from './attempts.ts'
import { latenessOf } from './hedge.ts'
import { brokenStream, faultOf } from './outcome.ts'

/**
 * The life of one request, shared by all three operations:
 *
 *   lease ─► admit ─► choose ─► reserve ─► dispatch ─► attempts ─► answering ─► finished
 *            └─────── a failure gives ───────┘ │            │
 *                     the key back             │            ├─ not a byte was sent: the key is given back all the same
 *                                              │            └─ else the key is spent
 *                                              └ committed before the first byte goes to a provider
 *
 * The lease is given back exactly once, whichever way the request ends.
 */
export type DispatchDeps = AttemptDeps & {
  chooser: Chooser
  concurrency: Limits
  idempotency: Idempotency
  credit: Credit
  ledger: Ledger
  limits: Readonly<Record<Stage, AttemptLimits>>
  /** Whether a second candidate may be asked while the first is late. */
  hedges?: boolean
}

/** Who asks for what, on any surface. */
export type RequestContext = {
  caller: Caller
  requestId: string
  operation: string
  /** Absent on surfaces without an Idempotency-Key. */
  key?: Pick<KeyUse, 'keyDigest' | 'contentHash'>
  /** Aborted when the client has gone. */
  signal: CancelSignal
}

export type Plan<T> = {
  ask: Ask
  /** The most that the request can consume. Asked only where a candidate has a price. */
  worstCase: () => Quantity[]
  /** Whether `run` resolves with the whole answer, and not with the first of a stream. */
  atOnce: boolean
  /** `run` resolves before the provider was asked for anything; `Exchange.firstMedia` says when its first media came. */
  opensOnly?: boolean
  /** Of an answer at once: how much audio is worked through for it. */
  mediaMs?: number
  /** `ports` are the row's provider with the key of this attempt. */
  run: (row: Row, call: AttemptSignal, ports: ProviderPorts) => Promise<T>
}

/** `failovers` counts the attempts that failed before this one. */
export type Route = { provider: string; model: string; attemptId: string; failovers: number }

/** Runs the request until a provider answers. Throws a Fault with everything given back that must be. */
export async function dispatchRequest<T>(
  deps: DispatchDeps,
  order: RequestContext,
  plan: Plan<T>,
): Promise<DispatchedRequest<T>> {
  const startedMs = deps.clock.monotonicMs()
  const lease = acquire(deps.concurrency, order.caller)
  const release = granted(lease instanceof Promise ? await lease : lease)
  try {
    const use = order.key && useOf(order, order.key)
    const chosen = choose(deps, order, plan)
    const free = freeOf(chosen)
    if (use) requireAdmitted(await deps.idempotency.admit(use, free ? 'dispatched' : 'admitted'))
    const prepared = free ?? (await prepare(deps, order, plan, use, chosen))
    const account = new Account(deps, openingOf(order, plan.ask.stage, startedMs, prepared, use))
    const opened = { deps, order, plan, candidates: prepared.candidates, account, release }
    return new DispatchedRequest(opened, await serve(opened, prepared.candidates, []))
  } catch (error) {
    release()
    throw error
  }
}

function acquire(concurrency: Limits, { organization, keyId, policy }: Caller): ReturnType<Limits['acquire']> {
  const limits = { organizationMax: organization.maxConcurrency, keyMax: policy.maxConcurrency ?? null }
  return concurrency.acquire(organization.id, keyId, limits)
}

function granted(lease: EndLease | LeaseRefusal): EndLease {
  if (typeof lease === 'function') return lease
  throw new Fault('concurrency_exhausted', {
    message: `The concurrency limit of this ${lease} is reached.`,
    hint: 'Wait for requests under way to end, or have the limit raised.',
    retryAfterS: 1,
  })
}

function useOf(order: RequestContext, key: Pick<KeyUse, 'keyDigest' | 'contentHash'>): KeyUse {
  return {
    organizationId: order.caller.organization.id,
    operation: order.operation,
    keyDigest: key.keyDigest,
    contentHash: key.contentHash,
    requestId: order.requestId,
  }
}

type Chosen = { choice: Choice; worstMicroUsd: number }

function choose<T>(deps: DispatchDeps, order: RequestContext, plan: Plan<T>): Chosen {
  const choice = deps.chooser.choose(plan.ask)
  const { attemptsMax } = deps.limits[plan.ask.stage]
  return { choice, worstMicroUsd: worstCost(choice.candidates, order, plan, attemptsMax) }
}

/**
 * A request that can be routed and has nothing to reserve has nothing to wait for either: it goes from unseen to dispatched in one commit. Null
 * for any other, which takes two, with what it waits for between.
 */
function freeOf({ choice, worstMicroUsd }: Chosen): Prepared | null {
  const { candidates } = choice
  return candidates.length > 0 && worstMicroUsd === 0 ? { choice, candidates, reservedMicroUsd: 0 } : null
}

type Candidates = Choice['candidates']
/** `candidates` are those of the choice that the credit reaches for. */
type Prepared = { choice: Choice; candidates: Candidates; reservedMicroUsd: number }

/** From admission to dispatch. Whatever fails here gives back what was taken. */
async function prepare<T>(
  deps: DispatchDeps,
  order: RequestContext,
  plan: Plan<T>,
  use: KeyUse | undefined,
  { choice, worstMicroUsd }: Chosen,
): Promise<Prepared> {
  const { credit, idempotency, log } = deps
  const { requestId } = order
  const organizationId = order.caller.organization.id
  let reservedMicroUsd = 0
  let held = use
  try {
    let { candidates } = choice
    if (candidates.length === 0) throw deps.chooser.refusal(plan.ask)
    if (worstMicroUsd === 0 || (await credit.reserve(organizationId, requestId, worstMicroUsd)))
      reservedMicroUsd = worstMicroUsd
    // What the organization's own keys pay for needs no credit.
    else candidates = candidates.filter((candidate) => isOwn(candidate, order))
    if (candidates.length === 0) throw insufficient()
    if (use && !(await idempotency.dispatch(use))) {
      // The lease ran out and another copy of the request took the key over: it is not ours to give back.
      held = undefined
      throw inProgress(1)
    }
    return { choice, candidates, reservedMicroUsd }
  } catch (error) {
    if (reservedMicroUsd > 0)
      await logged(log, requestId, 'credit not given back', credit.cancel(organizationId, requestId, reservedMicroUsd))
    if (held) await logged(log, requestId, 'key not released', idempotency.release(held))
    throw error
  }
}

function isOwn({ row }: Candidates[number], { caller }: RequestContext): boolean {
  return ownKeyIdOf(row.provider, caller.organization.ownKeys) !== null
}

/** Any candidate may be the one that answers, so the dearest counts. A price that is unknown reserves nothing, nor does an organization's own key. */
function worstCost<T>(candidates: Candidates, order: RequestContext, plan: Plan<T>, attemptsMax: number): number {
  const priced = candidates
    .slice(0, attemptsMax)
    .filter(
      (candidate) => candidate.row.prices[plan.ask.path].some(({ microUsd }) => microUsd) && !isOwn(candidate, order),
    )
  if (priced.length === 0) return 0
  const quantities = plan.worstCase()
  return Math.max(...priced.map(({ row }) => costMicroUsd(row.prices[plan.ask.path], quantities) ?? 0))
}

function insufficient(): Fault {
  return new Fault('insufficient_credit', {
    message: 'The credit of this organization does not cover the most that this request can cost.',
    hint: 'Add credit, or ask for less.',
  })
}

function openingOf(
  { caller, requestId, operation }: RequestContext,
  stage: Stage,
  startedMs: number,
  { choice, reservedMicroUsd }: Prepared,
  use: KeyUse | undefined,
): Opening {
  const organizationId = caller.organization.id
  const { keyId } = caller
  return { requestId, organizationId, keyId, operation, stage, startedMs, reservedMicroUsd, use, choice }
}

/** What an exchange stands on from dispatch to its end. */
type Opened<T> = {
  deps: DispatchDeps
  order: RequestContext
  plan: Plan<T>
  candidates: Candidates
  account: Account
  release: () => void
}

/** `earlier` are the attempts of this request that failed before. */
async function serve<T>(
  { deps, order, plan, account }: Opened<T>,
  candidates: Candidates,
  earlier: readonly Failure[],
): Promise<Served<T>> {
  const { stage, path } = plan.ask
  const hedged = { ask: plan.ask, atOnce: plan.atOnce, mediaMs: plan.mediaMs ?? null }
  const lateMs = deps.hedges && !plan.opensOnly ? latenessOf(deps.health, hedged) : null
  const attempted = await attempt(deps, {
    stage,
    path,
    requestId: order.requestId,
    organization: order.caller.organization,
    candidates,
    limits: deps.limits[stage],
    signal: order.signal,
    atOnce: plan.atOnce,
    opensOnly: plan.opensOnly ?? false,
    lateMs,
    run: plan.run,
  })
  if ('served' in attempted) {
    const { served } = attempted
    if (earlier.length > 0) served.earlier = [...earlier, ...served.earlier]
    return served
  }
  const unserved = { ...attempted.unserved, failures: [...earlier, ...attempted.unserved.failures] }
  const fault = faultOf(unserved, order.key !== undefined)
  await account.unserved(unserved, fault)
  throw fault
}

/** A request that a provider is answering. `finish` ends it, once. */
export class DispatchedRequest<T> {
  readonly value: T
  readonly route: Route
  readonly row: Row
  readonly signal: AttemptSignal
  /** To the first media, or to the whole answer where it came at once. */
  readonly elapsedMs: number
  readonly #opened: Opened<T>
  readonly #served: Served<T>
  /** From the start of the attempt. Null until the first media, and for an answer that comes at once. */
  #firstByteMs: number | null
  #finished = false

  constructor(opened: Opened<T>, served: Served<T>) {
    const { atOnce, opensOnly } = opened.plan
    this.value = served.value
    this.row = served.row
    this.signal = served.signal
    this.elapsedMs = served.elapsedMs
    this.route = routeOf(served)
    this.#opened = opened
    this.#served = served
    this.#firstByteMs = atOnce || opensOnly ? null : served.elapsedMs
  }

  /** The first media of a plan that `opensOnly` came, so long after it was asked for. */
  firstMedia(elapsedMs: number): void {
    if (this.#firstByteMs !== null || this.#finished) return
    this.#firstByteMs = elapsedMs
    this.#served.permit.alive()
    const { provider, model } = this.route
    this.#opened.deps.metrics.firstByte(this.#opened.plan.ask.stage, provider, model, elapsedMs)
  }

  /** Whether so much more costs anything here. An unknown price reserves nothing. */
  costs(quantities: Quantity[]): boolean {
    return this.#priceOf(quantities) > 0
  }

  /** Reserves for a session that goes on. False: the credit does not cover it. */
  reserve(quantities: Quantity[]): Promise<boolean> {
    return this.#opened.account.reserve(this.#priceOf(quantities))
  }

  /**
   * The provider broke before anything of its answer was used: a candidate of another one takes over within the same request. Ends this
   * exchange; where nobody takes over also the request, and throws its Fault.
   */
  async failOver(error: ProviderError): Promise<DispatchedRequest<T>> {
    const { release } = this.#opened
    this.#finished = true
    this.#attempted(error.errorClass)
    this.#served.permit.failed(error)
    this.signal.end(error)
    const failures = [...this.#served.earlier, this.#failure(error)]
    const failed = new Set(failures.map((failure) => failure.row.provider))
    const candidates = this.#opened.candidates.filter((candidate) => !failed.has(candidate.row.provider))
    try {
      return new DispatchedRequest(this.#opened, await serve(this.#opened, candidates, failures))
    } catch (fault) {
      release()
      throw fault
    }
  }

  /** All is delivered. Answers the cost. `sample` is what this request says of the model's speed. */
  succeed(quantities: Quantity[], sample: { firstByteMs?: number; realTimeFactor?: number } = {}): number | null {
    const cost = costOf(this.#served, quantities)
    if (this.#finished) return cost
    this.#served.permit.succeeded(sample)
    this.signal.close()
    this.#finish('succeeded', 'succeeded', quantities)
    return cost
  }

  /**
   * It broke off, or the reader went. `consumed` is what is owed all the same. Answers the fault to throw; what is no ProviderError is
   * ours, is no fault of the provider and comes back as it is.
   */
  fail(thrown: unknown, consumed: Quantity[]): unknown {
    const error =
      thrown instanceof ProviderError ? thrown : new ProviderError('cancelled', { sent: true, cause: thrown })
    const fault = thrown instanceof ProviderError ? brokenStream(thrown, this.#keyed, this.#reports(thrown)) : thrown
    if (this.#finished) return fault
    this.#served.permit.failed(error)
    const ledgerOutcome = fault instanceof Fault ? fault.code : 'relay_error'
    this.#finish(error.errorClass, ledgerOutcome, consumed)
    this.signal.end(error)
    return fault
  }

  get #keyed(): boolean {
    return this.#opened.order.key !== undefined
  }

  #priceOf(quantities: Quantity[]): number {
    return costOf(this.#served, quantities) ?? 0
  }

  #reports(error: ProviderError): AttemptReport[] {
    return [...this.#served.earlier, this.#failure(error)].map(({ report }) => report)
  }

  #failure(error: ProviderError): Failure {
    return failureOf(this.#served, error, this.#durationMs())
  }

  #durationMs(): number {
    return this.#opened.deps.clock.monotonicMs() - this.#served.startedMs
  }

  #attempted(outcome: string): void {
    const { deps, plan } = this.#opened
    deps.metrics.attempt(plan.ask.stage, this.route.provider, this.route.model, outcome, this.#durationMs())
  }

  #finish(outcome: string, ledgerOutcome: string, consumed: Quantity[]): void {
    const { account, release } = this.#opened
    const firstByteMs = this.#firstByteMs
    this.#finished = true
    this.#attempted(outcome)
    const answered = { served: this.#served, outcome, durationMs: this.#durationMs(), firstByteMs }
    account.close(answered, ledgerOutcome, consumed)
    release()
  }
}

function routeOf({ row, attemptId, earlier }: Served<unknown>): Route {
  // One that was asked beside it and not needed has not failed.
  const failovers = earlier.filter(({ error }) => error.errorClass !== 'cancelled').length
  return { provider: row.provider.id, model: row.model.id, attemptId, failovers }
}
