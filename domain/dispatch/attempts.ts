import { ownKeyIdOf, type ProviderKeys } from '../access/provider-keys.ts'
import { labelOf, type Row } from '../catalog/catalog.ts'
import type { AttemptPermit } from '../health/health.ts'
import type { Provider, ProviderPorts } from '../ports/provider.ts'
import { errorClasses, ProviderError } from '../ports/provider-error.ts'
import type { Scored } from '../routing/score.ts'
import {
  type Attempt,
  type Failure,
  failureOf,
  type Served,
  type Settled,
  type Started,
  type Unserved,
} from './attempt.ts'
import { logFailure } from './attempt-log.ts'
import { AttemptSignal, providerError } from './attempt-signal.ts'
import { recordAttempt } from './attempt-span.ts'
import { hedge, latenessOf } from './hedge.ts'
import type { DispatchDeps, Plan, RequestContext } from './request.ts'

/** The values that all attempts for one request share. */
export type Attempted<T> = { deps: DispatchDeps; context: RequestContext; plan: Plan<T> }

/**
 * Tries candidates in order until one answers. If a candidate's circuit has opened since the choice, the candidate is
 * skipped and does not count as an attempt. A provider's failure is returned, never thrown.
 */
export async function attempt<T>(request: Attempted<T>, candidates: readonly Scored[]): Promise<Served<T> | Unserved> {
  const attempts = new Attempts(request, candidates)
  const { unserved } = attempts
  const lateMsOf = latenessOf(request.deps, request.plan)
  for (let next = attempts.start(); next !== null; next = attempts.start()) {
    const lateMs = lateMsOf === null ? null : lateMsOf(next.row)
    const settled = lateMs === null ? await next.settled : await attempts.hedged(next, lateMs)
    if ('value' in settled) {
      settled.earlier = unserved.failures
      return settled
    }
    unserved.failures.push(settled)
    if (!errorClasses[settled.error.errorClass].failover) break
  }
  return unserved
}

const none: readonly Failure[] = []

/** Starts each of a request's candidates at most once. */
class Attempts<T> {
  readonly unserved: Unserved & { failures: Failure[] } = {
    failures: [],
    timedOut: false,
    cancelled: false,
    retryAfterMs: null,
  }
  readonly #request: Attempted<T>
  readonly #candidates: readonly Scored[]
  readonly #totalDueMs: number
  readonly #startedRows: Row[] = []

  constructor(request: Attempted<T>, candidates: readonly Scored[]) {
    const { deps, plan } = request
    this.#request = request
    this.#candidates = candidates
    this.#totalDueMs = deps.clock.monotonicMs() + deps.limits[plan.ask.stage].totalMs
  }

  /**
   * Starts the best remaining candidate if it may be tried now. Returns null if there is no such candidate, or if no
   * time or attempt is left. `not` excludes all models by one provider.
   */
  start(not?: Provider): Started<T> | null {
    const { context, deps, plan } = this.#request
    const { clock, health } = deps
    for (const { row } of this.#candidates) {
      if (row.provider === not || this.#startedRows.includes(row)) continue
      if (this.#startedRows.length >= deps.limits[plan.ask.stage].attemptsMax) return null
      if (plan.sendsMax !== undefined && this.#sends >= plan.sendsMax) return null
      this.unserved.cancelled = context.signal.aborted
      this.unserved.timedOut = clock.monotonicMs() >= this.#totalDueMs
      if (this.unserved.cancelled || this.unserved.timedOut) return null
      const { organization } = context.caller
      const ownKeyId = ownKeyIdOf(row.provider, organization.ownKeys)
      const permit = health.begin(row, plan.ask.path, ownKeyId, organization.id)
      if (permit) {
        this.#startedRows.push(row)
        return this.#start(row, ownKeyId, permit)
      }
      const waitMs = health.blocked(row, ownKeyId, organization.id)?.retryAfterMs ?? 0
      this.unserved.retryAfterMs = Math.min(this.unserved.retryAfterMs ?? waitMs, waitMs)
    }
    return null
  }

  /** Counts the attempts that have sent a byte or may still send a byte. */
  get #sends(): number {
    return this.#startedRows.length - this.unserved.failures.filter(({ error }) => !error.sent).length
  }

  #start(row: Row, ownKeyId: string | null, permit: AttemptPermit): Started<T> {
    const { context, deps, plan } = this.#request
    const { clock, ids } = deps
    const { path, stage } = plan.ask
    const { answerMs, firstByteMs } = deps.limits[stage]
    const trace = context.trace?.below() ?? null
    const made: Attempt = { row, path, attemptId: ids.attempt(), ownKeyId, startedMs: clock.monotonicMs(), trace }
    const firstMs = plan.atOnce ? answerMs : firstByteMs
    const { id: owner } = context.caller.organization
    const signal = new AttemptSignal(clock, context.signal, firstMs, this.#totalDueMs, trace?.headers, owner)
    return { row, signal, settled: run(this.#request, made, permit, signal) }
  }

  /** Starts a second candidate too if the first has not settled after `lateMs`. */
  async hedged(started: Started<T>, lateMs: number): Promise<Settled<T>> {
    const startSecond = () => this.start(started.row.provider)
    const { result, beside } = await hedge(this.#request.deps.clock, started, lateMs, startSecond)
    if (beside !== null) this.unserved.failures.push('value' in beside ? this.#dropped(beside) : beside)
    return result
  }

  /** Ends an attempt whose answer arrived too late to be used. It counts as a failed attempt. */
  #dropped(served: Served<T>): Failure {
    const error = new ProviderError('cancelled', { sent: true })
    served.signal.end(error)
    served.permit.failed(error)
    const failure = failureOf(served, error, this.#request.deps.clock.monotonicMs() - served.startedMs)
    reportFailure(this.#request, failure)
    return failure
  }
}

async function run<T>(
  request: Attempted<T>,
  made: Attempt,
  permit: AttemptPermit,
  signal: AttemptSignal,
): Promise<Settled<T>> {
  const { row, ownKeyId, startedMs } = made
  const { deps, plan } = request
  try {
    const value = await signal.guard(
      ownKeyId === null ? plan.run(row, signal, row.provider.ports) : runWithOwnKey(request, row, signal, ownKeyId),
    )
    const elapsedMs = deps.clock.monotonicMs() - startedMs
    signal.rest()
    if (!plan.opensOnly) permit.alive()
    if (!plan.opensOnly && !plan.atOnce)
      deps.metrics.firstByte(plan.ask.stage, row.provider.id, labelOf(row), elapsedMs)
    const { path, attemptId, trace } = made
    return { row, path, attemptId, ownKeyId, startedMs, trace, value, signal, permit, elapsedMs, earlier: none }
  } catch (thrown) {
    const error = providerError(thrown)
    // The adapter may still hold a connection after its failure. Ending the signal closes the connection.
    signal.end(error)
    permit.failed(error)
    const failure = failureOf(made, error, deps.clock.monotonicMs() - startedMs)
    reportFailure(request, failure)
    return failure
  }
}

/**
 * Runs the attempt with the organization's provider key. If the key is missing or unreadable, the attempt fails as if
 * the provider had refused the key. No byte was sent then, so another candidate may answer.
 */
async function runWithOwnKey<T>(
  { deps, context, plan }: Attempted<T>,
  row: Row,
  signal: AttemptSignal,
  ownKeyId: string,
): Promise<T> {
  const apiKey = await opened(deps.providerKeys, context.caller.organization.id, row.provider.id, ownKeyId)
  if (signal.aborted) throw signal.reason
  const ports: ProviderPorts = (await row.provider.forKey?.(apiKey)) ?? {}
  if (signal.aborted) throw signal.reason
  return plan.run(row, signal, ports)
}

async function opened(keys: ProviderKeys, organizationId: string, provider: string, ownKeyId: string): Promise<string> {
  let cause: unknown = new Error('the key was deleted or replaced meanwhile')
  try {
    const apiKey = await keys.open(organizationId, provider, ownKeyId)
    if (apiKey !== null) return apiKey
  } catch (error) {
    cause = error
  }
  throw new ProviderError('auth', { sent: false, cause })
}

function reportFailure<T>({ deps, context, plan }: Attempted<T>, failure: Failure): void {
  const { report, row } = failure
  const { provider, outcome, milliseconds: durationMs } = report
  const { stage } = plan.ask
  deps.metrics.attempt(stage, provider, labelOf(row), outcome, durationMs)
  recordAttempt(deps, failure, context, { stage, outcome, firstByteMs: null, answeredModel: null, quantities: [] })
  logFailure(deps, context, failure)
}
