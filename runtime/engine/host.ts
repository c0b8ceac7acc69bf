/**
 * Host names and addresses: one definition of "this machine" for the addresses that we listen on, our peers and the
 * names in Host headers.
 */
import ipaddr from 'ipaddr.js'

/** `[::1]:8080` and `Example.com:443` without port and in lower case. */
export function hostName(authority: string): string {
  return authority.replace(/:\d*$/, '').toLowerCase()
}

/** Host and port as they stand in a URL, where an address of IPv6 has brackets (RFC 3986, section 3.2.2). */
export function authorityOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** An IP address, also an IPv4 address in the form that IPv6 sockets use. False for anything that is not an address. */
export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}

/** A host to listen on or to connect to: an address, or `localhost`. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host)
}

/** The addresses that stand for all addresses of a machine. */
export function isEveryAddress(host: string): boolean {
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified'
}

/**
 * A Host header, with or without a port. A foreign page whose name was pointed at this machine (DNS rebinding) has
 * another name in it.
 */
export function isLoopbackAuthority(authority: string): boolean {
  const { bracketed, plain = '' } =
    /^(?:\[(?<bracketed>[^\]]*)\]|(?<plain>[^:]*))(?::\d{1,5})?$/.exec(authority)?.groups ?? {}
  return bracketed === undefined ? isLoopbackHost(plain) : bracketed.includes(':') && isLoopbackAddress(bracketed)
}
