/** Finds out which party left while a line connects two legs. */
import type { PhoneCall } from '../phone/phone-call.ts'
import type { CourseEvent } from './plan.ts'

/**
 * Called when a recipient's leg ends in this state. If the caller leaves, a carrier ends both connected legs and may
 * report the recipient's end first: the next destination must then not be called. Never rejects.
 */
export async function leftWhileBridging(
  { line, ref }: Pick<PhoneCall, 'line' | 'ref'>,
  attempt: number,
): Promise<CourseEvent> {
  // If the line does not answer in time, the caller is not known to be gone.
  const isAlive = ref === null || (await line.isAlive(ref).catch(() => true))
  return isAlive ? { type: 'attempt', attempt, event: 'recipientLeft' } : { type: 'callerLeft' }
}
