/** What is this machine alone: one answer for the addresses that we listen on, the peers that we serve and the names that they call us by. */
import ipaddr from 'ipaddr.js'

/** An IP address, IPv4 also as IPv6 sockets write it. False for what is no address. */
export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}

/** What one listens on or connects to: an address, or `localhost`. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host)
}

/** A Host header, with or without a port: a foreign page that had its own name point here (DNS rebinding) is found by it. */
export function isLoopbackAuthority(authority: string): boolean {
  const { bracketed, plain = '' } =
    /^(?:\[(?<bracketed>[^\]]*)\]|(?<plain>[^:]*))(?::\d{1,5})?$/.exec(authority)?.groups ?? {}
  return bracketed === undefined ? isLoopbackHost(plain) : bracketed.includes(':') && isLoopbackAddress(bracketed)
}
