import type { Row } from '../catalog/catalog.ts'
import type { AttemptPermit } from '../health/health.ts'
import type { Path } from '../ports/model.ts'
import type { ProviderError } from '../ports/provider-error.ts'
import type { Trace } from '../ports/trace.ts'
import type { AttemptReport } from '../records/fault.ts'
import type { AttemptSignal } from './attempt-signal.ts'

/** One request to one provider. `ownKeyId` names the organization's own key that it is made with; null is the operator's credential. */
export type Attempt = {
  row: Row
  path: Path
  attemptId: string
  ownKeyId: string | null
  startedMs: number
  /** The place of its span. Null: nobody traces the request. */
  trace: Trace | null
}

/** An attempt that is answering. The code that holds it closes its signal and ends its permit. */
export type Served<T> = Attempt & {
  value: T
  signal: AttemptSignal
  permit: AttemptPermit
  /** From the start to `run` resolving: the time to the first media, or to the whole answer where it came at once. */
  elapsedMs: number
  /** The attempts that failed before it, and the one beside it that was no longer needed. */
  earlier: readonly Failure[]
}

/** An attempt that failed. */
export type Failure = Attempt & { error: ProviderError; report: AttemptReport; durationMs: number }

/** Why no attempt served: all failed, or the rest may not be tried now. */
export type Unserved = {
  failures: readonly Failure[]
  timedOut: boolean
  cancelled: boolean
  retryAfterMs: number | null
}

export type Settled<T> = Served<T> | Failure

/** An attempt under way. `settled` never rejects. */
export type Started<T> = { row: Row; signal: AttemptSignal; settled: Promise<Settled<T>> }

export function failureOf(attempt: Attempt, error: ProviderError, durationMs: number): Failure {
  const { row, path, attemptId, ownKeyId, startedMs, trace } = attempt
  const report = {
    provider: row.provider.id,
    model: row.model.id,
    outcome: error.errorClass,
    milliseconds: Math.round(durationMs),
  }
  return { row, path, attemptId, ownKeyId, startedMs, trace, error, report, durationMs }
}
