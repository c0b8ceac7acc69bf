/** The number that was dialled, and the user in our Contact, which a trunk may call in its place. */
import { createHash } from 'node:crypto'
import { userOf } from './address.ts'
import { type SipRequest, valueOf } from './message.ts'

/** The user in the Contact of a dialog. */
export const contactUser = 'parley'

/**
 * The user in the Contact of a registration. Several connections may be registered at one trunk, so each has its own. A restart must not change
 * it: until the old registration ran out, the trunk would send each call to both.
 */
export const registeredUser = (connectionId: string): string =>
  `${contactUser}-${createHash('sha256').update(connectionId).digest('hex').slice(0, 20)}`

const isContactUser = (user: string) => user === contactUser || user.startsWith(`${contactUser}-`)

/** The target of the call before it was changed to our Contact is in P-Called-Party-ID (RFC 7315, section 4.2), or in To. */
export function dialedOf({ uri, to, headers }: SipRequest): string {
  const user = userOf(uri) ?? ''
  if (!isContactUser(user)) return user
  const party = valueOf(headers, 'p-called-party-id') ?? ''
  return userOf(/<([^<>]+)>/.exec(party)?.[1] ?? party) ?? userOf(to.uri) ?? ''
}
