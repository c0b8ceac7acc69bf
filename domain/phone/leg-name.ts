/**
 * The name that a line has for a leg, which is stored as soon as it is known: without it, nobody hangs the leg up when this
 * process has died.
 */
import type { Clock, Log } from '../ports/system.ts'
import type { Leg, LegStore } from './leg.ts'

export type LegNameDeps = { legs: Pick<LegStore, 'dialed'>; clock: Clock; log: Log }

/** From one try to the next, while the database is away. */
const retryMs = 1_000
/** An outage of ten minutes. */
const triesMax = 600

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
