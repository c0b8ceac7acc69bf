import type { OwnKeys } from '../access/organization.ts'
import { ownKeyIdOf, type ProviderKeys } from '../access/provider-keys.ts'
import type { Row } from '../catalog/catalog.ts'
import type { Path, Stage } from '../catalog/model.ts'
import type { AttemptReport } from '../fault.ts'
import type { AttemptPermit, Health } from '../health/health.ts'
import type { Provider, ProviderPorts } from '../ports/provider.ts'
import { errorClasses, ProviderError } from '../ports/provider-error.ts'
import type { CancelSignal, Clock, Ids, Log, Metrics } from '../ports/system.ts'
import type { Scored } from '../routing/score.ts'
import { AttemptSignal, providerError } from './attempt-signal.ts'
import { hedge } from './hedge.ts'

export type AttemptLimits = {
  attemptsMax: number
  /** One attempt up to its first media or token. */
  firstByteMs: number
  /** A pause after that. */
  idleMs: number
  /** One attempt that answers in one piece: a long answer is not a late one. */
  answerMs: number
  /** All attempts together, with all that they deliver. */
  totalMs: number
}

export type AttemptDeps = {
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  health: Health
  providerKeys: ProviderKeys
}

export type AttemptPlan<T> = {
  stage: Stage
  path: Path
  requestId: string
  organization: { id: string; ownKeys: OwnKeys }
  candidates: readonly Scored[]
  limits: AttemptLimits
  /** Aborted when the client has gone. */
  signal: CancelSignal
  atOnce: boolean
  /** `run` resolves before the provider was asked for anything: that says nothing of it. */
  opensOnly: boolean
  /** After how long without an answer a second candidate is asked too; null: never. */
  lateMs: ((row: Row) => number | null) | null
  /** Resolves with the first media, or with the whole answer where it comes `atOnce`. `ports` are the row's provider with the key of this attempt. */
  run: (row: Row, call: AttemptSignal, ports: ProviderPorts) => Promise<T>
}

/** One call to a provider. `ownKeyId` is the id of the organization's own key that it went out with; null is the operator's credential. */
type Attempt = { row: Row; path: Path; attemptId: string; ownKeyId: string | null; startedMs: number }

/** An attempt that is answering. Whoever holds it closes the call and ends the permit. */
export type Served<T> = Attempt & {
  value: T
  signal: AttemptSignal
  permit: AttemptPermit
  /** From the start to `run` resolving: the time to the first media, or to the whole answer where it came at once. */
  elapsedMs: number
  /** Those that failed before it, and the one beside it that was no longer needed. */
  earlier: readonly Failure[]
}

/** One that failed. */
export type Failure = Attempt & { error: ProviderError; report: AttemptReport; durationMs: number }
export type Unserved = {
  failures: readonly Failure[]
  timedOut: boolean
  cancelled: boolean
  retryAfterMs: number | null
}
export type Attempted<T> = { served: Served<T> } | { unserved: Unserved }

/**
 * Tries candidates in order until one answers. A candidate whose circuit opened since it was chosen is passed over and does not
 * count. Never throws for what a provider did.
 */
export async function attempt<T>(deps: AttemptDeps, plan: AttemptPlan<T>): Promise<Attempted<T>> {
  const attempts = new Attempts(deps, plan)
  const { unserved } = attempts
  for (let next = attempts.start(); next !== null; next = attempts.start()) {
    const lateMs = plan.lateMs === null ? null : plan.lateMs(next.row)
    const result = lateMs === null ? await next.settled : await hedge(deps.clock, attempts, next, lateMs)
    if ('value' in result) {
      result.earlier = unserved.failures
      return { served: result }
    }
    unserved.failures.push(result)
    if (!errorClasses[result.error.errorClass].failover) break
  }
  return { unserved }
}

const none: readonly Failure[] = []

export type Settled<T> = Served<T> | Failure
/** An attempt under way. `settled` never rejects. */
export type Started<T> = { row: Row; signal: AttemptSignal; settled: Promise<Settled<T>> }

/** The candidates of a request, each of which is started at most once. */
export class Attempts<T> {
  readonly unserved: Unserved & { failures: Failure[] } = {
    failures: [],
    timedOut: false,
    cancelled: false,
    retryAfterMs: null,
  }
  readonly #deps: AttemptDeps
  readonly #plan: AttemptPlan<T>
  readonly #totalDueMs: number
  readonly #startedRows: Row[] = []

  constructor(deps: AttemptDeps, plan: AttemptPlan<T>) {
    this.#deps = deps
    this.#plan = plan
    this.#totalDueMs = deps.clock.monotonicMs() + plan.limits.totalMs
  }

  /** Starts the best that is left and may be called now; null: nobody, or no time or attempt is left. `not`: no model of this provider. */
  start(not?: Provider): Started<T> | null {
    const { clock, health } = this.#deps
    const { candidates, limits, organization, path, signal } = this.#plan
    for (const { row } of candidates) {
      if (row.provider === not || this.#startedRows.includes(row)) continue
      if (this.#startedRows.length >= limits.attemptsMax) return null
      this.unserved.cancelled = signal.aborted
      this.unserved.timedOut = clock.monotonicMs() >= this.#totalDueMs
      if (this.unserved.cancelled || this.unserved.timedOut) return null
      const ownKeyId = ownKeyIdOf(row.provider, organization.ownKeys)
      const permit = health.begin(row, path, ownKeyId)
      if (permit) {
        this.#startedRows.push(row)
        return this.#start(row, ownKeyId, permit)
      }
      const waitMs = health.blocked(row, ownKeyId)?.retryAfterMs ?? 0
      this.unserved.retryAfterMs = Math.min(this.unserved.retryAfterMs ?? waitMs, waitMs)
    }
    return null
  }

  #start(row: Row, ownKeyId: string | null, permit: AttemptPermit): Started<T> {
    const { clock, ids } = this.#deps
    const { path } = this.#plan
    const { answerMs, firstByteMs } = this.#plan.limits
    const made: Attempt = { row, path, attemptId: ids.attempt(), ownKeyId, startedMs: clock.monotonicMs() }
    const firstMs = this.#plan.atOnce ? answerMs : firstByteMs
    const call = new AttemptSignal(clock, this.#plan.signal, firstMs, this.#totalDueMs)
    return { row, signal: call, settled: run(this.#deps, this.#plan, made, permit, call) }
  }

  /** An attempt that answered when nobody needed it any more, as the failure that it is for this request. */
  dropped(served: Served<T>): Failure {
    const error = new ProviderError('cancelled', { sent: true })
    served.signal.end(error)
    served.permit.failed(error)
    const failure = failureOf(served, error, this.#deps.clock.monotonicMs() - served.startedMs)
    reportFailure(this.#deps, this.#plan, failure)
    return failure
  }
}

async function run<T>(
  deps: AttemptDeps,
  plan: AttemptPlan<T>,
  made: Attempt,
  permit: AttemptPermit,
  call: AttemptSignal,
): Promise<Settled<T>> {
  const { row, ownKeyId, startedMs } = made
  try {
    const value = await call.guard(
      ownKeyId === null ? plan.run(row, call, row.provider.ports) : runWithOwnKey(deps, plan, row, call, ownKeyId),
    )
    const elapsedMs = deps.clock.monotonicMs() - startedMs
    call.rest()
    if (!plan.opensOnly) permit.alive()
    if (!plan.opensOnly && !plan.atOnce) deps.metrics.firstByte(plan.stage, row.provider.id, row.model.id, elapsedMs)
    const { path, attemptId } = made
    return { row, path, attemptId, ownKeyId, startedMs, value, signal: call, permit, elapsedMs, earlier: none }
  } catch (thrown) {
    const error = providerError(thrown)
    // Also where the adapter has failed by itself: whatever it still holds open ends here.
    call.end(error)
    permit.failed(error)
    const failure = failureOf(made, error, deps.clock.monotonicMs() - startedMs)
    reportFailure(deps, plan, failure)
    return failure
  }
}

/** A key that cannot be had is one that the provider would refuse: nothing is sent, and another candidate may answer. */
async function runWithOwnKey<T>(
  { providerKeys }: AttemptDeps,
  plan: AttemptPlan<T>,
  row: Row,
  call: AttemptSignal,
  ownKeyId: string,
): Promise<T> {
  const apiKey = await opened(providerKeys, plan.organization.id, row.provider.id, ownKeyId)
  if (call.aborted) throw call.reason
  const ports = (await row.provider.forKey?.(apiKey)) ?? {}
  if (call.aborted) throw call.reason
  return plan.run(row, call, ports)
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

export function failureOf(made: Attempt, error: ProviderError, durationMs: number): Failure {
  const { row, path, attemptId, ownKeyId, startedMs } = made
  const report = {
    provider: row.provider.id,
    model: row.model.id,
    outcome: error.errorClass,
    milliseconds: Math.round(durationMs),
  }
  return { row, path, attemptId, ownKeyId, startedMs, error, report, durationMs }
}

function reportFailure(deps: AttemptDeps, plan: { stage: Stage; requestId: string }, failure: Failure): void {
  const { report, error, attemptId } = failure
  deps.metrics.attempt(plan.stage, report.provider, report.model, report.outcome, report.milliseconds)
  if (error.errorClass === 'cancelled') return
  const fields = { requestId: plan.requestId, attemptId, ...report, status: error.status, err: error.cause }
  deps.log.warn(fields, 'attempt failed')
}
