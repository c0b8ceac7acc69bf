/** Decides whether an address is a trusted proxy, so its X-Forwarded-* headers are trusted. */
import ipaddr from 'ipaddr.js'

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * Makes the test for trusted proxies. Each entry is a CIDR range or one address. Throws an error with the entry's text
 * if it is neither.
 */
export function trustOf(proxies: readonly string[]): (address: string) => boolean {
  const ranges = proxies.map(readRange)
  return (address) => {
    if (ranges.length === 0 || !ipaddr.isValid(address)) return false
    const parsed = ipaddr.process(address)
    return ranges.some((range) => parsed.kind() === range[0].kind() && parsed.match(range))
  }
}

function readRange(text: string): Range {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
  if (!ipaddr.isValid(text)) throw new Error(`trustedProxies: ${text} is neither an address nor a CIDR range`)
  const address = ipaddr.parse(text)
  return [address, address.kind() === 'ipv6' ? 128 : 32]
}
