/** Chooses the time zone in which a response's hours and days begin. */
import { isTimezone, spelledZone } from '../../domain/records/time-zone.ts'
import { Refusal } from '../../runtime/engine/handler.ts'

/** Finds an organization's time zone. */
export type TimeZones = { find(organizationId: string): Promise<{ timeZone: string } | null> }

/**
 * Returns the requested time zone, or else the organization's time zone. Throws a Refusal for `param` if the requested
 * zone is unknown.
 */
export async function timeZoneOf(
  organizations: TimeZones,
  organizationId: string,
  { param, requested }: { param: string; requested: string | undefined },
): Promise<string> {
  if (requested === undefined) return (await organizations.find(organizationId))?.timeZone ?? 'UTC'
  if (!isTimezone(requested)) throw unknownZone(param)
  return spelledZone(requested)
}

export const unknownZone = (param: string) =>
  new Refusal('invalid_parameter', {
    param,
    message: `${param} must be the IANA name of a time zone, such as Europe/Berlin`,
    keyword: 'format',
  })
