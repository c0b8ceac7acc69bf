/**
 * Stores the line's leg id as soon as it is known: without the id, no other process can hang up the leg after this
 * process dies.
 */
import type { LegMedia } from '../ports/leg-media.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { Leg, LegStore } from '../records/leg.ts'

export type LegNameDeps = { legs: Pick<LegStore, 'dialed'>; clock: Clock; log: Log }

/** The pause between tries while the database is away. */
const retryMs = 1_000
/** Enough for a ten-minute outage. */
const triesMax = 600
/**
 * A person may answer this long after dialling: the longest ringing time-out, and some time for the stream to begin.
 */
const unnamedMs = 130_000

/** Never rejects. */
export async function storeLegName(deps: LegNameDeps, leg: Leg, carrierLegId: string, tries = 1): Promise<void> {
  const { legs, clock, log } = deps
  try {
    await legs.dialed(leg, carrierLegId)
  } catch (err) {
    log.warn({ err, legId: leg.id, tries }, 'the name of a leg was not stored')
    if (tries < triesMax) clock.after(retryMs, () => void storeLegName(deps, leg, carrierLegId, tries + 1))
  }
}

/**
 * The leg is over and takes no stream. But if the line has not named the leg yet, it may still dial it. The stream is
 * then let in, so the leg gets its name and is hung up.
 */
export function forgetStream({ media, clock }: { media: LegMedia; clock: Clock }, leg: Leg, isNamed: boolean): void {
  if (isNamed) media.forget(leg.id)
  else clock.after(unnamedMs, () => media.forget(leg.id))
}
