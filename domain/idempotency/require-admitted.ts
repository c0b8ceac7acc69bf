import { Fault } from '../records/fault.ts'
import type { KeyAdmission } from './idempotency.ts'

/**
 * Throws the fault if the key may not be used now. Nothing is released then, because another request is using the key.
 */
export function requireAdmitted(admission: KeyAdmission): void {
  switch (admission.outcome) {
    case 'admitted':
      return
    case 'in_progress':
      throw inProgress(admission.retryAfterS)
    case 'already_started':
      throw new Fault({ kind: 'key_already_started', originalRequestId: admission.originalRequestId })
    case 'conflict':
      throw new Fault({ kind: 'key_conflict', originalRequestId: admission.originalRequestId })
  }
}

/**
 * Makes the fault for a key in use. Also used if a request lost its key: another request with the same content then
 * runs under this key.
 */
export function inProgress(retryAfterS: number): Fault {
  return new Fault({ kind: 'key_in_progress' }, { retryAfterS })
}
