/** What headers tell of where a request comes from. A browser writes Host and Origin itself: a page cannot choose them, a program can. */

/** Whether a page at `origin` was itself served from `host`, the request's Host header; TLS may end in front of us. */
export function isOwnOrigin(origin: string, host: string): boolean {
  return host !== '' && (origin === `http://${host}` || origin === `https://${host}`)
}

/** `127.0.0.1`, `::1`, and as IPv6 sockets write IPv4: `0000:…:ffff:7f00:0001` or `::ffff:127.0.0.1`. */
export function isLoopbackAddress(address: string): boolean {
  return /^127\.|^::1$|^(0000:){7}0001$|^::ffff:127\.|^(0000:){5}ffff:7f/i.test(address)
}

/** A name that only this machine has: a foreign page that had its own name point here (DNS rebinding) is found by it. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host)
}
