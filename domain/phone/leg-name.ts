/**
 * Stores the carrier's leg id as soon as it is known. Without the id, no other process could hang up the leg after this
 * process dies.
 */
import type { LegMedia } from '../ports/leg-media.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { Leg, LegStore } from '../records/leg.ts'

export type LegNameDeps = { legs: Pick<LegStore, 'dialed'>; clock: Clock; log: Log }

/** The pause between tries while the database is unreachable. */
const retryMs = 1_000
/** With the pauses between them, these tries cover an outage of ten minutes. */
const triesMax = 600
/**
 * A person may answer this long after the dial command: the longest ringing time, and some time for the stream to
 * begin.
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
 * Makes an ended leg's stream URL invalid. If the carrier has not assigned an id to the leg yet, it may still dial the
 * leg. The URL then stays valid for `unnamedMs`, because the stream brings the id that is needed to hang up the leg.
 */
export function forgetStream({ media, clock }: { media: LegMedia; clock: Clock }, leg: Leg, isNamed: boolean): void {
  if (isNamed) media.forget(leg.id)
  else clock.after(unnamedMs, () => media.forget(leg.id))
}
