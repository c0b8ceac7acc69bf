/**
 * Host names and addresses. Defines "this machine" once, for our listening addresses, our peers and the names in Host
 * headers.
 */
import ipaddr from 'ipaddr.js'

/** `[::1]:8080` and `Example.com:443` without port and in lower case. */
export function hostName(authority: string): string {
  return authority.replace(/:\d*$/, '').toLowerCase()
}

/** Host and port in a URL's spelling: an IPv6 address gets brackets (RFC 3986, section 3.2.2). */
export function authorityOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * True for a loopback IP address, also for IPv4 in the form used by IPv6 sockets. False if the text is not an address.
 */
export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}

/** A host to listen on or to connect to: an address, or `localhost`. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host)
}

/** 0.0.0.0 or ::, each a name for all addresses on a machine. */
export function isEveryAddress(host: string): boolean {
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified'
}

/**
 * Checks a Host header, with or without a port. If a foreign page pointed its name at this machine (DNS rebinding), the
 * header has the page's name.
 */
export function isLoopbackAuthority(authority: string): boolean {
  const { bracketed, plain = '' } =
    /^(?:\[(?<bracketed>[^\]]*)\]|(?<plain>[^:]*))(?::\d{1,5})?$/.exec(authority)?.groups ?? {}
  return bracketed === undefined ? isLoopbackHost(plain) : bracketed.includes(':') && isLoopbackAddress(bracketed)
}
