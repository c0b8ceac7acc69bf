import { type LegRef, type PhoneLine, PhoneLineError } from '../ports/phone-line.ts'
import type { Log } from '../ports/system.ts'

/**
 * Presses keys on a leg. Rejects if the phone line cannot press the keys, or if `ref` is null because the leg has
 * ended.
 */
export async function pressKeys(
  { line, log }: { line: PhoneLine; log: Log },
  legId: string,
  ref: LegRef | null,
  digits: string,
): Promise<void> {
  try {
    if (ref === null) throw new PhoneLineError('unreachable')
    await line.sendDtmf(ref, digits)
  } catch (err) {
    log.warn({ err, legId }, 'a line did not press keys')
    throw err
  }
}
