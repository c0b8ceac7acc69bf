import { Fault } from '../fault.ts'
import type { Admission } from './idempotency.ts'

/** Throws the fault for a key that may not be used now. Its holder is another request, so nothing is released. */
export function requireAdmitted(admission: Admission): void {
  switch (admission.outcome) {
    case 'admitted':
      return
    case 'in_progress':
      throw inProgress(admission.retryAfterS)
    case 'already_started':
      throw new Fault('request_already_started', {
        message: 'A request with this Idempotency-Key has already been sent to a provider; its answer is not kept.',
        hint: 'To run it again, send it with a new Idempotency-Key.',
        originalRequestId: admission.originalRequestId,
      })
    case 'conflict':
      throw new Fault('idempotency_conflict', {
        message: 'This Idempotency-Key was used for other content.',
        hint: 'Use a new Idempotency-Key for each new request.',
        originalRequestId: admission.originalRequestId,
      })
  }
}

/** Also for a request that lost its lease to a taker-over: the same content is now under way there. */
export function inProgress(retryAfterS: number): Fault {
  return new Fault('request_in_progress', {
    message: 'A request with this Idempotency-Key is still being prepared.',
    hint: 'Retry with the same key after the delay.',
    retryAfterS,
  })
}
