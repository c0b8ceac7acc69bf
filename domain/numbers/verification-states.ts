/** The states of a business verification as one table. */
import type { VerificationStatus } from '../records/verification.ts'

type Event = 'save' | 'submit' | 'approve' | 'reject' | 'revoke'
type StatusAfter = Exclude<VerificationStatus, 'missing'>

const transitions: Readonly<Record<VerificationStatus, Partial<Record<Event, StatusAfter>>>> = {
  missing: { save: 'draft', submit: 'submitted' },
  draft: { save: 'draft', submit: 'submitted' },
  submitted: { approve: 'approved', reject: 'rejected' },
  approved: { revoke: 'revoked' },
  rejected: { save: 'draft', submit: 'submitted' },
  revoked: { save: 'draft', submit: 'submitted' },
}

/** Returns the status after the event, or undefined if the status does not allow the event. */
export function statusAfter(status: VerificationStatus, event: Event): StatusAfter | undefined {
  return transitions[status][event]
}
