/**
 * The only log line about a provider's failure. The client's answer has no second line. It has a stack only if our code
 * threw, because providers fail every day and our stack does not explain their failures.
 */
import type { Failure } from './attempt.ts'
import type { DispatchDeps, RequestContext } from './request.ts'

export function logFailure(
  { log }: Pick<DispatchDeps, 'log'>,
  { requestId }: Pick<RequestContext, 'requestId'>,
  { error, report, attemptId, trace }: Failure,
): void {
  // The answer has no reader any more.
  if (error.errorClass === 'cancelled') return
  const why = error.isOurDefect ? { err: error.cause } : { reason: error.reason }
  log.warn({ requestId, attemptId, ...report, ...trace?.logFields, status: error.status, ...why }, 'attempt failed')
}
