/** Computes a leg's price per minute and its costs so far. Debits and report use one formula, so they agree. */
import type { LineName } from '../ports/phone-line.ts'
import type { Leg, LegParty } from './leg.ts'
import type { Tenant } from './organization.ts'

/** A carrier price. It applies if the dialled number begins with `prefix`. */
export type LinePrice = { direction: Leg['direction']; prefix: string; microUsdPerMinute: number }

/** In micro-USD a minute. Null if the price is unknown. `to` is the dialled number in E.164. */
export type PriceOfLeg = (leg: Pick<Leg, 'direction' | 'line' | 'test'> & { to: string }) => number | null

/** An answered leg, for its call's costs. */
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
  /** Null if the leg is live. */
  endedAtMs: number | null
  microUsdPerMinute: number
}

/** Debits legs. Several processes do so, and each minute is debited once. */
export interface LegChargeStore {
  /** Debits live legs' full minutes and ended legs' remaining seconds. Returns the number of debited legs. */
  charge(limit: number): Promise<number>
  /** The process's calls with a current minute beyond the organization's credit or the key's budget. */
  withoutCredit(ownerId: string, limit: number): Promise<readonly (Tenant & { callId: string })[]>
}

/**
 * The longest prefix wins. Trunk legs cost nothing here, because the organization pays its trunk itself. Test calls
 * cost nothing either. Simulator minutes have a price only if one is configured to try out debits.
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
 * Begun seconds count in full. A line's clock may differ from this machine's, so a leg may seem to end before its
 * answer.
 */
export function secondsOf(durationMs: number): number {
  return Math.max(0, Math.ceil(durationMs / 1000))
}

/** In micro-USD, rounded up. */
export function costOfSeconds(microUsdPerMinute: number, seconds: number): number {
  return Math.ceil((microUsdPerMinute * seconds) / 60)
}

/** The total debit due by now: full minutes while the leg lives, afterwards its exact seconds. */
export function chargeOf({ answeredAtMs, endedAtMs, microUsdPerMinute }: ChargedLeg, nowMs: number): number {
  if (endedAtMs !== null) return costOfSeconds(microUsdPerMinute, secondsOf(endedAtMs - answeredAtMs))
  return microUsdPerMinute * Math.max(0, Math.floor((nowMs - answeredAtMs) / 60_000))
}
