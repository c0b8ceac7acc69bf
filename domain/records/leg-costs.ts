/** Computes a leg's price per minute and its costs so far. Debits and reports use the same formula, so they agree. */
import type { LineName } from '../ports/phone-line.ts'
import type { Leg, LegParty } from './leg.ts'
import type { Tenant } from './organization.ts'

/** A carrier price. It applies if the dialled number begins with `prefix`. */
export type LinePrice = { direction: Leg['direction']; prefix: string; microUsdPerMinute: number }

/** Returns micro-USD per minute, or null if the price is unknown. `to` is the dialled number in E.164. */
export type PriceOfLeg = (leg: Pick<Leg, 'direction' | 'line' | 'test'> & { to: string }) => number | null

/** An answered leg's duration and price, for computing its call's costs. */
export type LegUse = {
  party: LegParty
  direction: Leg['direction']
  line: LineName
  /** The time from the answer to the hangup, or until now. */
  durationMs: number
  microUsdPerMinute: number | null
}

export type ChargedLeg = {
  answeredAtMs: number
  /** Null if the leg is live. */
  endedAtMs: number | null
  microUsdPerMinute: number
}

/** Debits legs' costs. Several processes do this at once, but each minute is debited only once. */
export interface LegChargeStore {
  /** Debits full minutes for live legs and the remaining seconds for ended legs. Returns the number of debited legs. */
  charge(limit: number): Promise<number>
  /**
   * Finds calls in the process `ownerId` if the credit or the key's budget does not cover the call's current minute.
   */
  withoutCredit(ownerId: string, limit: number): Promise<readonly (Tenant & { callId: string })[]>
}

/**
 * Returns a function for a leg's price. The longest matching prefix wins. Trunk legs cost nothing, because the
 * organization pays its trunk company itself. Test calls cost nothing either. Simulator minutes have a price only if a
 * price is configured for trying out debits.
 */
export function createPriceOfLeg(prices: readonly LinePrice[]): PriceOfLeg {
  const longestFirst = prices.toSorted((one, other) => other.prefix.length - one.prefix.length)
  return ({ direction, line, test, to }) => {
    if (test || line === 'trunk') return 0
    const price = longestFirst.find((each) => each.direction === direction && to.startsWith(each.prefix))
    return price?.microUsdPerMinute ?? (line === 'simulator' ? 0 : null)
  }
}

/**
 * Rounds up to whole seconds. The result is never negative: the phone line's clock may differ from this machine's
 * clock, so a leg may seem to end before its answer.
 */
export function secondsOf(durationMs: number): number {
  return Math.max(0, Math.ceil(durationMs / 1000))
}

/** Returns micro-USD, rounded up. */
export function costOfSeconds(microUsdPerMinute: number, seconds: number): number {
  return Math.ceil((microUsdPerMinute * seconds) / 60)
}

/** Returns the total debit due by now: full minutes while the leg is live, and exact seconds after its end. */
export function chargeOf({ answeredAtMs, endedAtMs, microUsdPerMinute }: ChargedLeg, nowMs: number): number {
  if (endedAtMs !== null) return costOfSeconds(microUsdPerMinute, secondsOf(endedAtMs - answeredAtMs))
  return microUsdPerMinute * Math.max(0, Math.floor((nowMs - answeredAtMs) / 60_000))
}
