/**
 * Writes the SIP URIs for an outgoing call (request URI, From, To, identity headers) in the form required by the trunk.
 */
import type { SipConnection, SipOutbound } from '../../domain/ports/sip-connections.ts'
import { hostText, type Peer } from './address.ts'
import type { Header } from './message.ts'

type Called = { from: string; to: string; publicAddress: string; target: { peer: Peer; host: string } }
export type OutboundNames = { uri: string; from: string; to: string; identity: readonly Header[] }

export function namesOf(connection: SipConnection | null, { from, to, publicAddress, target }: Called): OutboundNames {
  const { peer, host } = target
  const outbound = connection?.outbound ?? null
  const called = `sip:${to}@${hostText(host)}:${peer.port}${outbound?.userPhone === true ? ';user=phone' : ''}`
  const names = { uri: `${called}${peer.transport === 'tcp' ? ';transport=tcp' : ''}`, to: `<${called}>` }
  const identity = outbound === null ? undefined : identityHeaders[outbound.identity]
  if (outbound === null || identity === undefined)
    return { ...names, from: `<sip:${from}@${hostText(publicAddress)}>`, identity: [] }
  const name = outbound.username === null ? `sip:${from}@${hostText(host)}` : recordOf(outbound)
  return { ...names, from: `<${name}>`, identity: [[identity, `<sip:${from}@${hostText(host)}>`]] }
}

/** The header for the caller's number, used if From contains the login's user name (RFC 3325, section 9). */
const identityHeaders: Readonly<Record<SipOutbound['identity'], string | undefined>> = {
  from: undefined,
  preferred: 'p-preferred-identity',
  asserted: 'p-asserted-identity',
}

/** Returns the address-of-record for a login (RFC 3261, section 10). The user name may already contain the domain. */
export function recordOf({ username, host }: Pick<SipOutbound, 'username' | 'host'>): string {
  const [, user = username ?? '', domain = hostText(host)] = /^([^@]+)@([A-Za-z0-9.-]+)$/.exec(username ?? '') ?? []
  return `sip:${encodeURIComponent(user).replace(/%(2B|26|3D|24|2C)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))}@${domain}`
}
