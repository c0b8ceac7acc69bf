/**
 * The line of the log about a provider that failed, which is the only one: the answer to the client has no second one. It has
 * a stack only where our own code threw, because providers fail every day, and their failures have no place in our code.
 */
import type { Failure } from './attempt.ts'
import type { DispatchDeps, RequestContext } from './request.ts'

export function logFailure(
  { log }: Pick<DispatchDeps, 'log'>,
  { requestId }: Pick<RequestContext, 'requestId'>,
  { error, report, attemptId, trace }: Failure,
): void {
  // Nobody waits for the answer any more.
  if (error.errorClass === 'cancelled') return
  const why = error.isOurDefect ? { err: error.cause } : { reason: error.reason }
  log.warn({ requestId, attemptId, ...report, ...trace?.logFields, status: error.status, ...why }, 'attempt failed')
}
