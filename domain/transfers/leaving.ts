/** Determines which party has left while the carrier connects two legs. */
import type { PhoneCall } from '../phone/phone-call.ts'
import type { CourseEvent } from './plan.ts'

/**
 * Must be called when a recipient's leg ends during the connection. If the caller left, a carrier ends both legs and
 * may report the recipient's end first. The next destination must then not be called, so this function asks the carrier
 * about the caller's leg. Never rejects.
 */
export async function leftWhileBridging(
  { line, ref }: Pick<PhoneCall, 'line' | 'ref'>,
  attempt: number,
): Promise<CourseEvent> {
  // If the carrier does not answer in time, the caller counts as present.
  const isAlive = ref === null || (await line.isAlive(ref).catch(() => true))
  return isAlive ? { type: 'attempt', attempt, event: 'recipientLeft' } : { type: 'callerLeft' }
}
