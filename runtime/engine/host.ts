/**
 * Host names and addresses. Defines "this machine" once, for our listening addresses, our peers and the names in Host
 * headers.
 */
import ipaddr from 'ipaddr.js'

/** Returns the host without its port, in lower case: `[::1]` for `[::1]:8080`, `example.com` for `Example.com:443`. */
export function hostName(authority: string): string {
  return authority.replace(/:\d*$/, '').toLowerCase()
}

/** Joins host and port in a URL's spelling: an IPv6 address gets brackets (RFC 3986, section 3.2.2). */
export function authorityOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * True for a loopback IP address, also for IPv4 in the form used by IPv6 sockets. False if the text is not an address.
 */
export function isLoopbackAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}

/** True for `localhost` and for a loopback address. `host` is an address or a name to listen on or to connect to. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host)
}

/** True for 0.0.0.0 and ::, each a name for all addresses on a machine. */
export function isEveryAddress(host: string): boolean {
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'unspecified'
}

/**
 * True if a Host header, with or without a port, names this machine. If another site's page pointed its name at this
 * machine (DNS rebinding), the header has the page's name, so the result is false.
 */
export function isLoopbackAuthority(authority: string): boolean {
  const { bracketed, plain = '' } =
    /^(?:\[(?<bracketed>[^\]]*)\]|(?<plain>[^:]*))(?::\d{1,5})?$/.exec(authority)?.groups ?? {}
  return bracketed === undefined ? isLoopbackHost(plain) : bracketed.includes(':') && isLoopbackAddress(bracketed)
}
