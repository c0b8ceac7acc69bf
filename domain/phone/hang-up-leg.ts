/**
 * Hangs up a leg, and tries again if its carrier refuses or does not answer, because a leg that stays open costs money
 * and keeps a person in silence. If the last try fails, the regular search for orphaned legs hangs the leg up later.
 */
import type { LegRef, PhoneLine, RejectCode } from '../ports/phone-line.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { Leg } from '../records/leg.ts'

const retryMs = 2_000
/** With the pauses between them, these tries cover an outage of half a minute. */
const triesMax = 15

/** Resolves with false if all tries have failed. Never rejects. */
export async function hangUpLeg(
  { clock, log }: { clock: Clock; log: Log },
  { id: legId, callId }: Leg,
  hangUp: () => Promise<void>,
): Promise<boolean> {
  for (let tries = 1; tries <= triesMax; tries++) {
    try {
      await hangUp()
      return true
    } catch (err) {
      log.warn({ err, legId, callId, tries }, 'a leg was not hung up')
    }
    if (tries < triesMax) await new Promise<void>((resolve) => void clock.after(retryMs, resolve))
  }
  return false
}

/** Refuses an inbound caller with `code`. If `code` is null, or if the refusal fails, the leg is hung up. */
export async function refuseOrHangUp(
  { line, log }: { line: Pick<PhoneLine, 'reject' | 'hangUp'>; log: Log },
  ref: LegRef,
  code: RejectCode | null,
): Promise<void> {
  if (code === null) return line.hangUp(ref)
  try {
    await line.reject(ref, code)
  } catch (err) {
    log.warn({ err, legId: ref.legId }, 'a leg was not refused, so it is hung up')
    await line.hangUp(ref)
  }
}
