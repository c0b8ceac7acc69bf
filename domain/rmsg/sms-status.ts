/** States if an SMS can be sent from a rich-message number. The carrier must have assigned the number to a campaign. */
import { type NumberAssignment, type SmsRegistry, SmsRegistryError } from '../ports/sms-registry.ts'

export type SmsStatus = 'not_configured' | 'pending' | 'ready' | 'failed'

const statuses: Readonly<Record<NumberAssignment['status'], SmsStatus>> = {
  PENDING_ASSIGNMENT: 'pending',
  ASSIGNED: 'ready',
  FAILED_ASSIGNMENT: 'failed',
  PENDING_UNASSIGNMENT: 'pending',
  FAILED_UNASSIGNMENT: 'failed',
}

/** Returns the status. `assignment` is null if the number belongs to no campaign. */
export function smsStatusOf(assignment: Pick<NumberAssignment, 'status'> | null): SmsStatus {
  return assignment === null ? 'not_configured' : statuses[assignment.status]
}

/** Asks the registry for the status. Returns null if the registry does not answer. */
export async function readSmsStatus(
  registry: Pick<SmsRegistry, 'findAssignment'>,
  e164: string,
): Promise<SmsStatus | null> {
  try {
    return smsStatusOf(await registry.findAssignment(e164))
  } catch (error) {
    if (error instanceof SmsRegistryError) return null
    throw error
  }
}
