/**
 * Writes the only log line about a provider's failure. The fault for the client is not logged again. The log line
 * contains a stack trace only if our code threw the error, because our stack does not explain a provider's failure.
 */
import type { Failure } from './attempt.ts'
import type { DispatchDeps, RequestContext } from './request.ts'

export function logFailure(
  { log }: Pick<DispatchDeps, 'log'>,
  { requestId }: Pick<RequestContext, 'requestId'>,
  { error, report, attemptId, trace }: Failure,
): void {
  // Not logged: the client has disconnected, so the failure affects no answer.
  if (error.errorClass === 'cancelled') return
  const why = error.isOurDefect ? { err: error.cause } : { reason: error.reason }
  log.warn({ requestId, attemptId, ...report, ...trace?.logFields, status: error.status, ...why }, 'attempt failed')
}
