import type { AttemptReport } from '../fault.ts'
import type { Clock, Departure, Ids, Log, Metrics } from '../ports.ts'
import { Call, providerError } from './call.ts'
import type { Row } from './catalog.ts'
import type { Health, Permit } from './health.ts'
import type { Path, Stage } from './model.ts'
import { errorClasses, type ProviderError } from './provider-error.ts'
import type { Scored } from './score.ts'

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

export type AttemptDeps = { clock: Clock; ids: Ids; log: Log; metrics: Metrics; health: Health }

export type AttemptPlan<T> = {
  stage: Stage
  path: Path
  requestId: string
  candidates: readonly Scored[]
  limits: AttemptLimits
  /** Aborted when the client has gone. */
  signal: Departure
  atOnce: boolean
  /** `run` resolves before the provider was asked for anything: that says nothing of it. */
  opensOnly: boolean
  /** Resolves with the first media, or with the whole answer where it comes `atOnce`. */
  run: (row: Row, call: Call) => Promise<T>
}

/** An attempt that is answering. Whoever holds it closes the call and ends the permit. */
export type Served<T> = {
  value: T
  row: Row
  attemptId: string
  call: Call
  permit: Permit
  startedMs: number
  /** From then to `run` resolving: the time to the first media, or to the whole answer where it came at once. */
  elapsedMs: number
  /** Those that failed before it. */
  earlier: readonly Failure[]
}

/** One that failed, in the order made. */
export type Failure = { row: Row; attemptId: string; error: ProviderError; report: AttemptReport }
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
  const totalDueMs = deps.clock.monotonicMs() + plan.limits.totalMs
  const unserved: Unserved & { failures: Failure[] } = {
    failures: [],
    timedOut: false,
    cancelled: false,
    retryAfterMs: null,
  }
  for (const { row } of plan.candidates) {
    if (unserved.failures.length >= plan.limits.attemptsMax) break
    unserved.cancelled = plan.signal.aborted
    unserved.timedOut = deps.clock.monotonicMs() >= totalDueMs
    if (unserved.cancelled || unserved.timedOut) break
    const permit = deps.health.begin(row, plan.path)
    if (!permit) {
      const waitMs = deps.health.blocked(row)?.retryAfterMs ?? 0
      unserved.retryAfterMs = Math.min(unserved.retryAfterMs ?? waitMs, waitMs)
      continue
    }
    const result = await attemptOne(deps, plan, row, permit, totalDueMs)
    if ('value' in result) return { served: { ...result, earlier: unserved.failures } }
    unserved.failures.push(result)
    if (!errorClasses[result.error.errorClass].failover) break
  }
  return { unserved }
}

async function attemptOne<T>(
  deps: AttemptDeps,
  plan: AttemptPlan<T>,
  row: Row,
  permit: Permit,
  totalDueMs: number,
): Promise<Omit<Served<T>, 'earlier'> | Failure> {
  const attemptId = deps.ids.attempt()
  const startedMs = deps.clock.monotonicMs()
  const { answerMs, firstByteMs } = plan.limits
  const call = new Call(deps.clock, plan.signal, plan.atOnce ? answerMs : firstByteMs, totalDueMs)
  try {
    const value = await call.guard(plan.run(row, call))
    const elapsedMs = deps.clock.monotonicMs() - startedMs
    call.rest()
    if (!plan.opensOnly) permit.alive()
    if (!plan.opensOnly && !plan.atOnce) deps.metrics.firstByte(plan.stage, row.provider.id, row.model.id, elapsedMs)
    return { value, row, attemptId, call, permit, startedMs, elapsedMs }
  } catch (thrown) {
    const error = providerError(thrown)
    // Also where the adapter has failed by itself: whatever it still holds open ends here.
    call.end(error)
    permit.failed(error)
    const failure = failureOf(row, attemptId, error, deps.clock.monotonicMs() - startedMs)
    reportFailure(deps, plan, failure)
    return failure
  }
}

function failureOf(row: Row, attemptId: string, error: ProviderError, durationMs: number): Failure {
  const { provider, model } = row
  const milliseconds = Math.round(durationMs)
  return {
    row,
    attemptId,
    error,
    report: { provider: provider.id, model: model.id, outcome: error.errorClass, milliseconds },
  }
}

function reportFailure(deps: AttemptDeps, plan: { stage: Stage; requestId: string }, failure: Failure): void {
  const { report, error, attemptId } = failure
  deps.metrics.attempt(plan.stage, report.provider, report.model, report.outcome, report.milliseconds)
  if (error.errorClass === 'cancelled') return
  const fields = { requestId: plan.requestId, attemptId, ...report, status: error.status, err: error.cause }
  deps.log.warn(fields, 'attempt failed')
}
