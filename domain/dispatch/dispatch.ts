import type { Quantity } from '../billing/ledger.ts'
import { labelOf, type Row } from '../catalog/catalog.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { type AttemptReport, Fault } from '../records/fault.ts'
import { type Admission, admitRequest } from './admission.ts'
import { type Failure, failureOf, type Served } from './attempt.ts'
import { logFailure } from './attempt-log.ts'
import type { AttemptSignal } from './attempt-signal.ts'
import { recordAttempt } from './attempt-span.ts'
import { type Attempted, attempt } from './attempts.ts'
import { Bill, costOf } from './bill.ts'
import { brokenStream, faultOf } from './outcome.ts'
import type { DispatchDeps, Plan, RequestContext, Route } from './request.ts'

/**
 * Runs a request from its admission to its settlement. All operations share these steps. "Key" is the idempotency key
 * here:
 *
 *   ┌──────────────────── admission ────────────────────┐   ┌───────────── dispatch ────────────┐
 *   lease ─► choice ─► key admitted ─► credit ─► key dispatched ─► attempts ─► answering ─► finished
 *                      └── a failure gives back ──┘ │                 │
 *                          the key and the credit   │                 ├─ if no byte was sent, the key is given back too
 *                                                   │                 └─ else the key is spent
 *                                                   └ committed before the first byte goes to a provider
 *
 * Every request ends its admission exactly once, and this ends the lease.
 */
export async function dispatchRequest<T>(
  deps: DispatchDeps,
  context: RequestContext,
  plan: Plan<T>,
): Promise<DispatchedRequest<T>> {
  return dispatch(deps, context, plan, await admitRequest(deps, context, plan))
}

/**
 * Runs an admitted request until a provider answers, and ends the admission when the request has ended. If this throws
 * a Fault, the admission has ended, the reservation is given back and an unused idempotency key is released.
 */
export async function dispatch<T>(
  deps: DispatchDeps,
  context: RequestContext,
  plan: Plan<T>,
  admission: Admission,
): Promise<DispatchedRequest<T>> {
  const bill = new Bill(deps, context, plan, admission)
  const admitted = { deps, context, plan, admission, bill }
  try {
    return new DispatchedRequest(admitted, await serve(admitted, admission.candidates, []))
  } catch (error) {
    admission.end()
    throw error
  }
}

/** The values that a dispatched request keeps until its end. */
type Admitted<T> = Attempted<T> & { admission: Admission; bill: Bill }

/**
 * Tries the candidates until one answers. Throws the fault if no candidate answers. `earlier` are this request's failed
 * attempts so far.
 */
async function serve<T>(
  request: Admitted<T>,
  candidates: Admission['candidates'],
  earlier: readonly Failure[],
): Promise<Served<T>> {
  const attempted = await attempt(request, candidates)
  if ('value' in attempted) {
    if (earlier.length > 0) attempted.earlier = [...earlier, ...attempted.earlier]
    return attempted
  }
  const unserved = { ...attempted, failures: [...earlier, ...attempted.failures] }
  const fault = faultOf(unserved, request.context.key !== undefined)
  await request.bill.unserved(unserved, fault)
  throw fault
}

/** A request that a provider is answering. It ends with exactly one call of `succeed`, `fail` or `failOver`. */
export class DispatchedRequest<T> {
  readonly value: T
  readonly route: Route
  readonly row: Row
  readonly signal: AttemptSignal
  /** The time from the attempt's start to the first media, or to the whole answer if it arrived at once. */
  readonly elapsedMs: number
  readonly #request: Admitted<T>
  readonly #served: Served<T>
  /**
   * The time from the attempt's start to the first media. Null until then, and null if the whole answer arrived at
   * once.
   */
  #firstByteMs: number | null
  #finished = false

  constructor(request: Admitted<T>, served: Served<T>) {
    const { atOnce, opensOnly } = request.plan
    this.value = served.value
    this.row = served.row
    this.signal = served.signal
    this.elapsedMs = served.elapsedMs
    this.route = routeOf(served, request.context.requestId)
    this.#request = request
    this.#served = served
    this.#firstByteMs = atOnce || opensOnly ? null : served.elapsedMs
    const { logFields } = request.context
    if (this.route.failovers > 0) request.deps.metrics.failover(request.plan.ask.stage)
    if (logFields) Object.assign(logFields, { provider: this.route.provider, model: this.route.model })
  }

  /**
   * Reports the first media of a plan with `opensOnly`. The media arrived `elapsedMs` after the provider's request was
   * sent.
   */
  firstMedia(elapsedMs: number): void {
    if (this.#firstByteMs !== null || this.#finished) return
    this.#firstByteMs = elapsedMs
    this.#served.permit.alive()
    const { deps, plan } = this.#request
    deps.metrics.firstByte(plan.ask.stage, this.route.provider, labelOf(this.row), elapsedMs)
  }

  /** Returns true if these quantities cost more than 0. An unknown price counts as 0, so nothing is reserved for it. */
  costs(quantities: Quantity[]): boolean {
    return this.#priceOf(quantities) > 0
  }

  /** Reserves more for an open session. Throws the fault `credit_exhausted`. */
  reserve(quantities: Quantity[]): Promise<void> {
    return this.#request.bill.reserve(this.#priceOf(quantities))
  }

  /**
   * Call this if the provider broke off before any part of its answer was used. A candidate from another provider then
   * takes over within the same request, as a new object, and this object must not be used any more. If no candidate is
   * left, the request ends, and its Fault is thrown.
   */
  async failOver(error: ProviderError): Promise<DispatchedRequest<T>> {
    this.#finished = true
    this.#attempted(error.errorClass, [])
    this.#served.permit.failed(error)
    this.signal.end(error)
    const failure = this.#failure(error)
    logFailure(this.#request.deps, this.#request.context, failure)
    const failures = [...this.#served.earlier, failure]
    const failed = new Set(failures.map((failure) => failure.row.provider))
    const candidates = this.#request.admission.candidates.filter((candidate) => !failed.has(candidate.row.provider))
    try {
      return new DispatchedRequest(this.#request, await serve(this.#request, candidates, failures))
    } catch (fault) {
      this.#request.admission.end()
      throw fault
    }
  }

  /**
   * Call this when everything was delivered. Returns the cost. `sample` is this request's measurement for the model's
   * live figures.
   */
  succeed(quantities: Quantity[], sample: { firstByteMs?: number; realTimeFactor?: number } = {}): number | null {
    const cost = costOf(this.#served, quantities)
    if (this.#finished) return cost
    this.#served.permit.succeeded(sample)
    this.signal.close()
    this.#finish('succeeded', 'succeeded', quantities)
    return cost
  }

  /**
   * Call this if the provider broke off or the reader stopped reading. `consumed` is charged even then. Returns the
   * fault to throw. Errors other than ProviderError come from this server and are returned unchanged.
   */
  fail(thrown: unknown, consumed: Quantity[]): unknown {
    const error =
      thrown instanceof ProviderError ? thrown : new ProviderError('cancelled', { sent: true, cause: thrown })
    const fault = thrown instanceof ProviderError ? brokenStream(thrown, this.#keyed, this.#reports(thrown)) : thrown
    if (this.#finished) return fault
    this.#served.permit.failed(error)
    logFailure(this.#request.deps, this.#request.context, this.#failure(error))
    const ledgerOutcome = fault instanceof Fault ? fault.kind : 'internal'
    this.#finish(error.errorClass, ledgerOutcome, consumed)
    this.signal.end(error)
    return fault
  }

  get #keyed(): boolean {
    return this.#request.context.key !== undefined
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
    return this.#request.deps.clock.monotonicMs() - this.#served.startedMs
  }

  #attempted(outcome: string, quantities: Quantity[]): void {
    const { deps, context, plan } = this.#request
    const { stage } = plan.ask
    deps.metrics.attempt(stage, this.route.provider, labelOf(this.row), outcome, this.#durationMs())
    const [firstByteMs, { answeredModel }] = [this.#firstByteMs, this.signal]
    recordAttempt(deps, this.#served, context, { stage, outcome, firstByteMs, answeredModel, quantities })
  }

  #finish(outcome: string, ledgerOutcome: string, consumed: Quantity[]): void {
    const { admission, bill } = this.#request
    const firstByteMs = this.#firstByteMs
    this.#finished = true
    this.#attempted(outcome, consumed)
    const answered = { served: this.#served, outcome, durationMs: this.#durationMs(), firstByteMs }
    bill.close(answered, ledgerOutcome, consumed)
    admission.end()
  }
}

function routeOf({ row, attemptId, earlier }: Served<unknown>, requestId: string): Route {
  // A cancelled attempt was only slower than another attempt (see hedge.ts), so it does not count as a failure.
  const failovers = earlier.filter(({ error }) => error.errorClass !== 'cancelled').length
  return { provider: row.provider.id, model: row.model.id, requestId, attemptId, failovers }
}
