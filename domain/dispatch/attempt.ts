import type { Row } from '../catalog/catalog.ts'
import type { AttemptPermit } from '../health/health.ts'
import type { Path } from '../ports/model.ts'
import type { ProviderError } from '../ports/provider-error.ts'
import type { Trace } from '../ports/trace.ts'
import type { AttemptReport } from '../records/fault.ts'
import type { AttemptSignal } from './attempt-signal.ts'

/**
 * One request to one provider. `ownKeyId` names the organization's provider key. If null, the operator's credential is
 * used.
 */
export type Attempt = {
  row: Row
  path: Path
  attemptId: string
  ownKeyId: string | null
  startedMs: number
  /** The trace for the attempt's span. Null if the request is not traced. */
  trace: Trace | null
}

/** An attempt that has answered. The calling code must close its signal and end its permit. */
export type Served<T> = Attempt & {
  value: T
  signal: AttemptSignal
  permit: AttemptPermit
  /** The time from the start until `run` resolved, with the first media or with a whole answer. */
  elapsedMs: number
  /** The attempts that failed earlier, and the cancelled attempt if two ran at once (see hedge.ts). */
  earlier: readonly Failure[]
}

/** A failed attempt. */
export type Failure = Attempt & { error: ProviderError; report: AttemptReport; durationMs: number }

/** The result if no attempt has answered: all attempts failed, or the remaining candidates may not be tried now. */
export type Unserved = {
  failures: readonly Failure[]
  timedOut: boolean
  cancelled: boolean
  retryAfterMs: number | null
}

export type Settled<T> = Served<T> | Failure

/** A running attempt. `settled` never rejects. */
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
