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
