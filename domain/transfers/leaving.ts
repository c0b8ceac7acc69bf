/** Finds out who has left while a line connects two legs. */
import type { PhoneCall } from '../phone/phone-call.ts'
import type { CourseEvent } from './plan.ts'

/**
 * For the end of a recipient's leg in this state. A carrier that has connected the two ends both legs when the caller leaves,
 * and may say so of the recipient first: the next destination must not be called then. Never rejects.
 */
export async function leftWhileBridging(
  { line, ref }: Pick<PhoneCall, 'line' | 'ref'>,
  attempt: number,
): Promise<CourseEvent> {
  // A line that does not answer in time does not say that the caller is gone.
  const isAlive = ref === null || (await line.isAlive(ref).catch(() => true))
  return isAlive ? { type: 'attempt', attempt, event: 'recipientLeft' } : { type: 'callerLeft' }
}
