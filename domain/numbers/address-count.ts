/**
 * Counts the IP addresses in ranges such as 203.0.113.0/28. In IPv6, a /48 network counts as one address, because a
 * site usually gets a whole /48 network.
 */
export function addressesIn(ranges: readonly string[]): number {
  let count = 0
  for (const range of ranges) {
    const prefixBits = Number(range.slice(range.indexOf('/') + 1))
    count += 2 ** Math.max(0, (range.includes(':') ? 48 : 32) - prefixBits)
  }
  return count
}
