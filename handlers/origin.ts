/** What headers tell of where a request comes from. A browser writes Host and Origin itself: a page cannot choose them, a program can. */

/** Whether a page at `origin` was itself served from `host`, the request's Host header; TLS may end in front of us. */
export function isOwnOrigin(origin: string, host: string): boolean {
  return host !== '' && (origin === `http://${host}` || origin === `https://${host}`)
}
