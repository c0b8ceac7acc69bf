/** Checks URLs and headers set by organizations for requests to their servers. */
import type { Issue, Problem, ValuePath } from '../records/resource-fault.ts'

/**
 * Decides if requests may be sent to a host. A name is resolved and checked at each connection. An IP address is
 * public, allowed by the operator, or refused.
 */
export type HostPolicy = {
  placeOf(host: string): 'name' | 'public' | 'allowed' | 'refused'
  /**
   * True if the operator has allowed at least one IP address range that is not public. Only such addresses may be
   * called over http.
   */
  allowsAny: boolean
  /**
   * True for a port where servers of other protocols listen. `port` is a URL's `port`, which is empty for the default
   * port.
   */
  isBadPort(port: string): boolean
}

export function urlProblem(text: string, hosts: HostPolicy): Problem | null {
  // Blanks and control characters are refused: valid URLs do not contain them, but the parser would silently remove
  // them.
  const url = /[\s\p{Cc}]/u.test(text) || !URL.canParse(text) ? null : new URL(text)
  if (url === null || url.hostname === '') return { kind: 'url_malformed' }
  const { protocol, username, password, hostname, port } = url
  if (protocol !== 'https:' && protocol !== 'http:') return { kind: 'url_not_https' }
  if (username !== '' || password !== '') return { kind: 'url_with_user' }
  const place = hosts.placeOf(hostname)
  if (place === 'refused') return { kind: 'url_not_public' }
  if (place !== 'allowed' && hosts.isBadPort(port)) return { kind: 'url_bad_port' }
  const mayBeHttp = place === 'allowed' || (place === 'name' && hosts.allowsAny)
  return protocol === 'http:' && !mayBeHttp ? { kind: 'url_not_https' } : null
}

/**
 * Returns true if both URLs have the same origin. If the origin changes, the client must send the secrets again.
 * Otherwise a client with access to the URL could learn the secrets of the old server.
 */
export function isSameOrigin(a: string, b: string): boolean {
  return new URL(a).origin === new URL(b).origin
}

/** Headers that the HTTP client or the signature sets. */
const reserved = new Set([
  'host',
  'connection',
  'transfer-encoding',
  'te',
  'upgrade',
  'user-agent',
  'cookie',
  'expect',
  'keep-alive',
])
const reservedStarts = /^(content-|webhook-)/
const authorization = 'authorization'

/** Checks header names, in lower case. `authorization` must be in `authHeaders`, because its value is a secret. */
export function headerIssues(
  headers: { path: ValuePath; names: readonly string[] },
  authHeaders: { path: ValuePath; names: readonly string[] },
): Issue[] {
  const plain = headers.names.map((name) => ({ name: name.toLowerCase(), path: [...headers.path, name] }))
  const secret = authHeaders.names.map((name, at) => ({
    name: name.toLowerCase(),
    path: [...authHeaders.path, at, 'name'],
  }))
  const seen = new Set<string>()
  return [...plain, ...secret].flatMap(({ name, path }, at): Issue[] => {
    const isPlain = at < plain.length
    if (isReserved(name) || (isPlain && name === authorization)) return [{ path, problem: { kind: 'header_reserved' } }]
    if (seen.has(name)) return [{ path, problem: { kind: 'repeated' } }]
    seen.add(name)
    return []
  })
}

function isReserved(name: string): boolean {
  return reserved.has(name) || reservedStarts.test(name)
}
