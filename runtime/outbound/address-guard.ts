/**
 * Guards connections to URLs from users (SSRF). The check is part of connecting: every resolved address must be public,
 * and the socket connects to a checked address, so a second DNS answer cannot change it. Redirects need no rule here,
 * because the pool follows no redirect.
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { buildConnector } from 'undici'
import { loadUndici } from '../optional.ts'

type Lookup = (
  hostname: string,
  options: { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

export type AddressPolicy = {
  /** CIDR ranges allowed by the operator although they are not public. */
  allowedSubnets: readonly string[]
  /**
   * If true, public addresses are refused too. Set for http:, because anyone on the way can read a request's secrets.
   */
  onlyAllowed?: boolean
  /** Resolves names. If absent, the system's resolver is used. */
  lookup?: Lookup
}

export class AddressRefused extends Error {
  readonly code = 'ERR_ADDRESS_REFUSED'

  constructor(subject: string) {
    super(`${subject} is not a public address`)
    this.name = 'AddressRefused'
  }
}

/** Throws AddressRefused if a literal address is not allowed. Names are checked when they are resolved. */
export function checkHost(hostname: string, policy: AddressPolicy): void {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isAllowed(host, policy)) throw new AddressRefused('the host')
}

/**
 * Classifies a URL's host before it is resolved: a name (its addresses are checked later) or a literal address, which
 * is public, allowed by the operator, or refused.
 */
export function placeOfHost(hostname: string, policy: AddressPolicy): 'name' | 'public' | 'allowed' | 'refused' {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) === 0) return 'name'
  const address = ipaddr.parse(host)
  if (policy.allowedSubnets.some((subnet) => contains(subnet, address))) return 'allowed'
  return isPublic(address) ? 'public' : 'refused'
}

/** Makes an undici connector. It refuses with AddressRefused before a packet is sent. */
export function guardedConnector(policy: AddressPolicy, connectMs: number): buildConnector.connector {
  const connect = loadUndici().buildConnector({ timeout: connectMs, lookup: guardedLookup(policy) })
  return (target, callback) => {
    // A literal address never reaches the resolver, so it is checked here.
    if (isIP(target.hostname) === 0 || isAllowed(target.hostname, policy)) return connect(target, callback)
    process.nextTick(callback, new AddressRefused('the host'), null)
  }
}

export function isAllowed(address: string, policy: AddressPolicy): boolean {
  // Node accepts scopes in IPv6 addresses, this library does not.
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  return (!policy.onlyAllowed && isPublic(parsed)) || policy.allowedSubnets.some((subnet) => contains(subnet, parsed))
}

/** Makes a lookup function for net.connect. It refuses with AddressRefused before a packet is sent. */
export function guardedLookup(policy: AddressPolicy): LookupFunction {
  const lookup: Lookup = policy.lookup ?? systemLookup
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0)
      // A single private address is enough to refuse, because net.connect chooses the first address to try.
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => isAllowed(address, policy)))
        return callback(new AddressRefused('the host'), '', 0)
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

/** Resolves a host's addresses. Rejects with AddressRefused unless the policy allows each address. */
export function allowedAddresses(hostname: string, family: 4 | 6, policy: AddressPolicy): Promise<string[]> {
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    // A literal address is not looked up, so it is checked here.
    if (isIP(host) !== 0 && !isAllowed(host, policy)) return reject(new AddressRefused('the host'))
    guardedLookup(policy)(host, { family, all: true }, (error, addresses) => {
      if (error) reject(error)
      else resolve(typeof addresses === 'string' ? [addresses] : addresses.map(({ address }) => address))
    })
  })
}

/**
 * True if the text is a range such as 10.0.0.0/8. Short and octal forms are refused, because programs read 127.1/8 or
 * 010.0.0.0/8 differently.
 */
export function isSubnet(text: string): boolean {
  const [address = ''] = text.split('/')
  return isIP(address) !== 0 && ipaddr.isValidCIDR(text)
}

type Address = ReturnType<typeof ipaddr.parse>

// Some stacks still map ::/96 to IPv4 addresses, so only the allocated global IPv6 range counts as public. Its tunnel
// ranges and documentation range are refused too, because ipaddr.js does not classify them as `unicast`.
const globalIpv6 = ipaddr.parseCIDR('2000::/3')

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  return address.kind() === 'ipv4' || address.match(globalIpv6)
}

function contains(subnet: string, address: Address): boolean {
  const range = ipaddr.parseCIDR(subnet)
  return range[0].kind() === address.kind() && address.match(range)
}
