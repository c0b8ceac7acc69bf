/** The price of a leg by the minute, and its costs so far. One formula serves the debits and the report, so that they agree. */
import type { LineName } from '../ports/phone-line.ts'
import type { Leg, LegParty } from './leg.ts'
import type { Tenant } from './organization.ts'

/** A price of the carrier for calls whose dialled number begins with `prefix`. */
export type LinePrice = { direction: Leg['direction']; prefix: string; microUsdPerMinute: number }

/** In micro-USD a minute. Null: the price is not known. `to` is the dialled number in E.164. */
export type PriceOfLeg = (leg: Pick<Leg, 'direction' | 'line' | 'test'> & { to: string }) => number | null

/** A leg that was answered, as the costs of its call count it. */
export type LegUse = {
  party: LegParty
  direction: Leg['direction']
  line: LineName
  /** From the answer to the hangup, or until now. */
  durationMs: number
  microUsdPerMinute: number | null
}

export type ChargedLeg = {
  answeredAtMs: number
  /** Null: it is live. */
  endedAtMs: number | null
  microUsdPerMinute: number
}

/** The debits of legs. Several processes look for them, and each minute of a leg is debited once. */
export interface LegChargeStore {
  /** Debits the full minutes of live legs, and the rest of those that have ended. Returns how many legs were debited. */
  charge(limit: number): Promise<number>
  /** Calls of the process whose minutes under way are not covered by the credit of the organization, or by the budget of the key. */
  withoutCredit(ownerId: string, limit: number): Promise<readonly (Tenant & { callId: string })[]>
}

/**
 * The longest prefix wins. A trunk is paid by the organization itself, and a test call costs nothing, as do minutes of the
 * simulator: a price for them is only there to try out debits.
 */
export function createPriceOfLeg(prices: readonly LinePrice[]): PriceOfLeg {
  const longestFirst = prices.toSorted((one, other) => other.prefix.length - one.prefix.length)
  return ({ direction, line, test, to }) => {
    if (test || line === 'trunk') return 0
    const price = longestFirst.find((each) => each.direction === direction && to.startsWith(each.prefix))
    return price?.microUsdPerMinute ?? (line === 'simulator' ? 0 : null)
  }
}

/** Seconds that have begun count. The clocks of a line and of this machine may differ, so a leg may seem to end before its answer. */
export function secondsOf(durationMs: number): number {
  return Math.max(0, Math.ceil(durationMs / 1000))
}

/** In micro-USD, rounded up. */
export function costOfSeconds(microUsdPerMinute: number, seconds: number): number {
  return Math.ceil((microUsdPerMinute * seconds) / 60)
}

/** The sum that must have been debited by now: full minutes while the leg lives, and then its seconds. */
export function chargeOf({ answeredAtMs, endedAtMs, microUsdPerMinute }: ChargedLeg, nowMs: number): number {
  if (endedAtMs !== null) return costOfSeconds(microUsdPerMinute, secondsOf(endedAtMs - answeredAtMs))
  return microUsdPerMinute * Math.max(0, Math.floor((nowMs - answeredAtMs) / 60_000))
}
