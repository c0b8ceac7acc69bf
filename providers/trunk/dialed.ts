/**
 * Reads the dialled number, and defines our Contact header's user name: a trunk may call this user name and not the
 * number.
 */
import { createHash } from 'node:crypto'
import { userOf } from './address.ts'
import { type SipRequest, valueOf } from './message.ts'

/** The user name in a dialog's Contact. */
export const contactUser = 'parley'

/**
 * Returns the user name for a registration's Contact. Several connections may register at one trunk, so each connection
 * has a different name. A restart must not change the name: otherwise the trunk would send each call to both names
 * until the old registration expires.
 */
export const registeredUser = (connectionId: string): string =>
  `${contactUser}-${createHash('sha256').update(connectionId).digest('hex').slice(0, 20)}`

const isContactUser = (user: string) => user === contactUser || user.startsWith(`${contactUser}-`)

/**
 * Returns the dialled number. If the request's target is our Contact, the number is in P-Called-Party-ID (RFC 7315,
 * section 4.2) or in To.
 */
export function dialedOf({ uri, to, headers }: SipRequest): string {
  const user = userOf(uri) ?? ''
  if (!isContactUser(user)) return user
  const party = valueOf(headers, 'p-called-party-id') ?? ''
  return userOf(/<([^<>]+)>/.exec(party)?.[1] ?? party) ?? userOf(to.uri) ?? ''
}
