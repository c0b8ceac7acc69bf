import { Capacity } from '../../runtime/shares/capacity.ts'
import { Owners } from '../../runtime/shares/owners.ts'

/**
 * Each organization's part of a limit that all trunks have together, such as the limit on TCP sockets. All unknown
 * senders together have one such part.
 */
const part = 1 / 8

/**
 * Divides a limit of `max` places among organizations. The division also applies to an organization that is alone on
 * the server, so a part always stays free for unknown senders. If `lends` returns true for an owner, the owner may use
 * more than its part.
 */
export function dividedPlaces(max: number, lends?: (owner: string) => boolean): Capacity {
  return new Capacity({ max, part, ...(lends && { lends }) }, new Owners(true))
}
