import type { Tx } from './connect.ts'

/**
 * Returns an SQL expression that sets the transaction's time zone. Zones in `date_trunc` and `at time zone` may be
 * abbreviations, so there `CET` has no summer time, and `IST` is Israel's. The setting takes only the names of zones.
 */
export function zoneSetting(tx: Tx, timeZone: string) {
  return tx`set_config('TimeZone', ${timeZone}, true)`
}

/**
 * Sets the transaction's time zone, and returns its name as the time zone database spells it. Intl would also replace
 * some names by others, such as `Asia/Kolkata` by `Asia/Calcutta`.
 */
export async function setZone(tx: Tx, timeZone: string): Promise<string> {
  const [row] = await tx<{ name: string }[]>`select ${zoneSetting(tx, timeZone)} as name`
  return row?.name ?? timeZone
}

/**
 * Resolves with `zone_unknown` if the database lacks the time zone, because the runtime's list of time zones can be
 * newer.
 */
export async function unlessZoneUnknown<Result>(result: Promise<Result>): Promise<Result | 'zone_unknown'> {
  try {
    return await result
  } catch (error) {
    if ((error as { code?: string }).code === invalidParameterValue) return 'zone_unknown'
    throw error
  }
}

/** The SQLSTATE for an unknown time zone. */
const invalidParameterValue = '22023'
