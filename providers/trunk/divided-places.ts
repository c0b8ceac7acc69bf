import { Capacity } from '../../runtime/shares/capacity.ts'
import { Owners } from '../../runtime/shares/owners.ts'

/**
 * Each organization's share of the resources that all trunks use together. All unknown senders together have one such
 * share.
 */
const part = 1 / 8

/**
 * Divides `max` places. The division also applies to an organization that is alone on the server, so a share always
 * stays free for strangers. If `lends` returns true for an owner, the owner may use more than its share.
 */
export function dividedPlaces(max: number, lends?: (owner: string) => boolean): Capacity {
  return new Capacity({ max, part, ...(lends && { lends }) }, new Owners(true))
}
