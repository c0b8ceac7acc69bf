/** The number that was dialled. */
import { userOf } from './address.ts'
import { type SipRequest, valueOf } from './message.ts'

/** The user in our Contact. A trunk at which we have registered may call it, and names the number elsewhere. */
export const contactUser = 'parley'

/** The target of the call before it was changed to our Contact is in P-Called-Party-ID (RFC 7315, section 4.2), or in To. */
export function dialedOf({ uri, to, headers }: SipRequest): string {
  const user = userOf(uri) ?? ''
  if (user !== contactUser) return user
  const party = valueOf(headers, 'p-called-party-id') ?? ''
  return userOf(/<([^<>]+)>/.exec(party)?.[1] ?? party) ?? userOf(to.uri) ?? ''
}
