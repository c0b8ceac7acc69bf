import type { Leases } from './access/leases.ts'
import type { Caller } from './access/organization.ts'
import { Account, logged, type Opening } from './billing/account.ts'
import type { Credit, Ledger, Quantity } from './billing/ledger.ts'
import { costMicroUsd } from './billing/price.ts'
import { type AttemptReport, Fault } from './fault.ts'
import { inProgress, requireAdmitted } from './idempotency/admission.ts'
import type { Idempotency, KeyUse } from './idempotency/idempotency.ts'
import type { Departure } from './ports.ts'
import type { Ask } from './routing/ask.ts'
import { type AttemptDeps, type AttemptLimits, attempt, type Failure, type Served } from './routing/attempts.ts'
import type { Call } from './routing/call.ts'
import type { Row } from './routing/catalog.ts'
import type { Choice, Chooser } from './routing/chooser.ts'
import type { Stage } from './routing/model.ts'
import { brokenStream, faultOf } from './routing/outcome.ts'
import { ProviderError } from './routing/provider-error.ts'

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
export type ExchangeDeps = AttemptDeps & {
  chooser: Chooser
  leases: Leases
  idempotency: Idempotency
  credit: Credit
  ledger: Ledger
  limits: Readonly<Record<Stage, AttemptLimits>>
}

/** Who asks for what, on any surface. */
export type Order = {
  caller: Caller
  requestId: string
  operation: string
  /** Absent on surfaces without an Idempotency-Key. */
  key?: Pick<KeyUse, 'keyDigest' | 'contentHash'>
  /** Aborted when the client has gone. */
  signal: Departure
}

export type Plan<T> = {
  ask: Ask
  /** The most that the request can consume. Asked only where a candidate has a price. */
  worstCase: () => Quantity[]
  /** Whether `run` resolves with the whole answer, and not with the first of a stream. */
  atOnce: boolean
  /** `run` resolves before the provider was asked for anything; `Exchange.firstMedia` says when its first media came. */
  opensOnly?: boolean
  run: (row: Row, call: Call) => Promise<T>
}

/** `failovers` counts the attempts that failed before this one. */
export type Route = { provider: string; model: string; attemptId: string; failovers: number }

/** Runs the request until a provider answers. Throws a Fault with everything given back that must be. */
export async function openExchange<T>(deps: ExchangeDeps, order: Order, plan: Plan<T>): Promise<Exchange<T>> {
  const startedMs = deps.clock.monotonicMs()
  const release = await acquire(deps.leases, order.caller)
  try {
    const use = order.key && useOf(order, order.key)
    const { choice, reservedMicroUsd } = use
      ? await admitted(deps, order, plan, use)
      : await prepare(deps, order, plan, undefined)
    const account = new Account(deps, openingOf(order, plan.ask.stage, startedMs, reservedMicroUsd, use))
    const opened = { deps, order, plan, choice, account, release, startedMs }
    return new Exchange(opened, await serve(opened, choice.candidates, []))
  } catch (error) {
    release()
    throw error
  }
}

async function acquire(leases: Leases, caller: Caller): Promise<() => void> {
  const { organization, keyId, policy } = caller
  const limits = { organizationMax: organization.maxConcurrency, keyMax: policy.maxConcurrency ?? null }
  const lease = await leases.acquire(organization.id, keyId, limits)
  if (typeof lease === 'function') return lease
  throw new Fault('concurrency_exhausted', {
    message: `The concurrency limit of this ${lease} is reached.`,
    hint: 'Wait for requests under way to end, or have the limit raised.',
    retryAfterS: 1,
  })
}

function useOf(order: Order, key: Pick<KeyUse, 'keyDigest' | 'contentHash'>): KeyUse {
  return {
    organizationId: order.caller.organization.id,
    operation: order.operation,
    keyDigest: key.keyDigest,
    contentHash: key.contentHash,
    requestId: order.requestId,
  }
}

/** A request that can be routed and has nothing to reserve goes from unseen to dispatched in one commit; any other in two, with what it waits for between. */
async function admitted<T>(deps: ExchangeDeps, order: Order, plan: Plan<T>, use: KeyUse): Promise<Prepared> {
  const choice = deps.chooser.choose(plan.ask)
  const attemptsMax = deps.limits[plan.ask.stage].attemptsMax
  if (choice.candidates.length > 0 && worstCost(choice, plan, attemptsMax) === 0) {
    requireAdmitted(await deps.idempotency.admit(use, 'dispatched'))
    return { choice, reservedMicroUsd: 0 }
  }
  requireAdmitted(await deps.idempotency.admit(use))
  return prepare(deps, order, plan, use)
}

type Prepared = { choice: Choice; reservedMicroUsd: number }

/** From admission to dispatch. Whatever fails here gives back what was taken. */
async function prepare<T>(deps: ExchangeDeps, order: Order, plan: Plan<T>, use: KeyUse | undefined): Promise<Prepared> {
  const { credit, idempotency, log } = deps
  const { requestId } = order
  const organizationId = order.caller.organization.id
  let reservedMicroUsd = 0
  let held = use
  try {
    const choice = deps.chooser.chooseSome(plan.ask)
    const worstMicroUsd = worstCost(choice, plan, deps.limits[plan.ask.stage].attemptsMax)
    if (worstMicroUsd > 0 && !(await credit.reserve(organizationId, requestId, worstMicroUsd))) throw insufficient()
    reservedMicroUsd = worstMicroUsd
    if (use && !(await idempotency.dispatch(use))) {
      // The lease ran out and another copy of the request took the key over: it is not ours to give back.
      held = undefined
      throw inProgress(1)
    }
    return { choice, reservedMicroUsd }
  } catch (error) {
    if (reservedMicroUsd > 0)
      await logged(log, requestId, 'credit not given back', credit.cancel(organizationId, requestId, reservedMicroUsd))
    if (held) await logged(log, requestId, 'key not released', idempotency.release(held))
    throw error
  }
}

/** Any candidate may be the one that answers, so the dearest counts. A price that is unknown reserves nothing. */
function worstCost<T>({ candidates }: Choice, plan: Plan<T>, attemptsMax: number): number {
  const priced = candidates.slice(0, attemptsMax).filter(({ row }) => row.model.prices.some(({ microUsd }) => microUsd))
  if (priced.length === 0) return 0
  const quantities = plan.worstCase()
  return Math.max(...priced.map(({ row }) => costMicroUsd(row.model.prices, quantities) ?? 0))
}

function insufficient(): Fault {
  return new Fault('insufficient_credit', {
    message: 'The credit of this organization does not cover the most that this request can cost.',
    hint: 'Add credit, or ask for less.',
  })
}

function openingOf(
  { caller, requestId, operation }: Order,
  stage: Stage,
  startedMs: number,
  reservedMicroUsd: number,
  use: KeyUse | undefined,
): Opening {
  const organizationId = caller.organization.id
  return { requestId, organizationId, keyId: caller.keyId, operation, stage, startedMs, reservedMicroUsd, use }
}

/** What an exchange stands on from dispatch to its end. */
type Opened<T> = {
  deps: ExchangeDeps
  order: Order
  plan: Plan<T>
  choice: Choice
  account: Account
  release: () => void
  startedMs: number
}

/** `earlier` are the attempts of this request that failed before. */
async function serve<T>(
  { deps, order, plan, account }: Opened<T>,
  candidates: Choice['candidates'],
  earlier: readonly Failure[],
): Promise<Served<T>> {
  const { stage, path } = plan.ask
  const attempted = await attempt(deps, {
    stage,
    path,
    requestId: order.requestId,
    candidates,
    limits: deps.limits[stage],
    signal: order.signal,
    atOnce: plan.atOnce,
    opensOnly: plan.opensOnly ?? false,
    run: plan.run,
  })
  if ('served' in attempted) return { ...attempted.served, earlier: [...earlier, ...attempted.served.earlier] }
  const unserved = { ...attempted.unserved, failures: [...earlier, ...attempted.unserved.failures] }
  const fault = faultOf(unserved, order.key !== undefined)
  await account.unserved(unserved, fault)
  throw fault
}

/** A request that a provider is answering. `finish` ends it, once. */
export class Exchange<T> {
  readonly value: T
  readonly route: Route
  readonly row: Row
  readonly call: Call
  /** To the first media, or to the whole answer where it came at once. */
  readonly elapsedMs: number
  readonly #opened: Opened<T>
  readonly #served: Served<T>
  /** Null until the first media, and for an answer that comes at once. */
  #firstByteMs: number | null
  #finished = false

  constructor(opened: Opened<T>, served: Served<T>) {
    const { atOnce, opensOnly } = opened.plan
    this.value = served.value
    this.row = served.row
    this.call = served.call
    this.elapsedMs = served.elapsedMs
    this.route = routeOf(served)
    this.#opened = opened
    this.#served = served
    this.#firstByteMs = atOnce || opensOnly ? null : served.startedMs - opened.startedMs + served.elapsedMs
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
  async swap(error: ProviderError): Promise<Exchange<T>> {
    const { choice, release } = this.#opened
    this.#finished = true
    this.#attempted(error.errorClass)
    this.#served.permit.failed(error)
    this.call.end(error)
    const { row, attemptId, earlier } = this.#served
    const failures = [...earlier, { row, attemptId, error, report: this.#report(error) }]
    const failed = new Set(failures.map((failure) => failure.row.provider))
    const candidates = choice.candidates.filter((candidate) => !failed.has(candidate.row.provider))
    try {
      return new Exchange(this.#opened, await serve(this.#opened, candidates, failures))
    } catch (fault) {
      release()
      throw fault
    }
  }

  /** All is delivered. Answers the cost. `sample` is what this request says of the model's speed. */
  succeed(quantities: Quantity[], sample: { firstByteMs?: number; realTimeFactor?: number } = {}): number | null {
    const cost = costMicroUsd(this.row.model.prices, quantities)
    if (this.#finished) return cost
    this.#served.permit.succeeded(sample)
    this.call.close()
    this.#finish('succeeded', 'succeeded', quantities, cost)
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
    this.#finish(error.errorClass, ledgerOutcome, consumed, costMicroUsd(this.row.model.prices, consumed))
    this.call.end(error)
    return fault
  }

  get #keyed(): boolean {
    return this.#opened.order.key !== undefined
  }

  #priceOf(quantities: Quantity[]): number {
    return costMicroUsd(this.row.model.prices, quantities) ?? 0
  }

  #reports(error: ProviderError): AttemptReport[] {
    return [...this.#served.earlier.map(({ report }) => report), this.#report(error)]
  }

  #report(error: ProviderError): AttemptReport {
    const { provider, model } = this.route
    return { provider, model, outcome: error.errorClass, milliseconds: Math.round(this.#durationMs()) }
  }

  #durationMs(): number {
    return this.#opened.deps.clock.monotonicMs() - this.#served.startedMs
  }

  #attempted(outcome: string): void {
    const { deps, plan } = this.#opened
    deps.metrics.attempt(plan.ask.stage, this.route.provider, this.route.model, outcome, this.#durationMs())
  }

  #finish(attemptOutcome: string, ledgerOutcome: string, consumed: Quantity[], costMicroUsd: number | null): void {
    const { account, release } = this.#opened
    const { row, attemptId } = this.#served
    this.#finished = true
    this.#attempted(attemptOutcome)
    account.close({ row, attemptId, firstByteMs: this.#firstByteMs }, ledgerOutcome, consumed, costMicroUsd)
    release()
  }
}

function routeOf({ row, attemptId, earlier }: Served<unknown>): Route {
  return { provider: row.provider.id, model: row.model.id, attemptId, failovers: earlier.length }
}
