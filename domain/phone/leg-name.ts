/**
 * The name that a line has for a leg, which is stored as soon as it is known: without it, nobody hangs the leg up when this
 * process has died.
 */
import type { LegMedia } from '../ports/leg-media.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { Leg, LegStore } from '../records/leg.ts'

export type LegNameDeps = { legs: Pick<LegStore, 'dialed'>; clock: Clock; log: Log }

/** From one try to the next, while the database is away. */
const retryMs = 1_000
/** An outage of ten minutes. */
const triesMax = 600
/** A person may answer this long after the dialling: the longest ringing time-out, and a while for the stream to begin. */
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
 * The leg is over, and takes no stream. If the line has not named it yet, it may have dialled it all the same. Its stream
 * then still comes in, so that the leg is named and hung up.
 */
export function forgetStream({ media, clock }: { media: LegMedia; clock: Clock }, leg: Leg, isNamed: boolean): void {
  if (isNamed) media.forget(leg.id)
  else clock.after(unnamedMs, () => media.forget(leg.id))
}
