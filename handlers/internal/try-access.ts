/**
 * Decides which clients get the pages below `/try`. On this machine the user needs no key, because the pages use the
 * key from the first local run. So only a browser on this machine may get a token: the peer's address and Host must be
 * loopback (another site's page sends its site's name as Host, even if the name points here), and the request must not
 * be forwarded. Without a token, the page asks for an API key. Other machines get the page only if the deployer allows
 * it. Otherwise they get 404, as for an unknown path.
 */
import { readFileSync } from 'node:fs'
import type { Caller } from '../../domain/records/organization.ts'
import { type Peer, Refusal } from '../../runtime/engine/handler.ts'
import { isLoopbackAddress, isLoopbackAuthority } from '../../runtime/engine/host.ts'
import { nothingAt } from '../../runtime/http/unknown-path.ts'
import { packageFile } from '../../runtime/package-file.ts'
import { isOwnOrigin } from '../authenticate.ts'

export type TryAccess = {
  /**
   * Returns the local API key's organization and policy for the page. Null if there is no local key, and then the page
   * asks for a key.
   */
  caller: () => Promise<Caller | null> | Caller | null
  /** Replaces `Service` in names of headers and subprotocols. */
  headerPrefix: string
  /** True if clients on other machines get the page, too. Only clients on this machine can get a token. */
  isOpen: boolean
}

export const noStore = { 'Cache-Control': 'no-store' } as const

/**
 * Returns the local API key's organization and policy. Throws the refusal for an unknown path if the client is not on
 * this machine or there is no local key.
 */
export async function admitLocal(access: TryAccess, peer: Peer, path: string): Promise<Caller> {
  const found = await localCaller(access, peer)
  if (found === null) throw nothingAt(path, [])
  return found
}

/** Returns the local API key's organization and policy if the client is on this machine. */
async function localCaller({ caller }: TryAccess, peer: Peer): Promise<Caller | null> {
  return isLocal(peer) ? caller() : null
}

/** Throws the refusal for an unknown path, unless the client is on this machine. */
export function requireLocal(peer: Peer, path: string): void {
  if (!isLocal(peer)) throw nothingAt(path, [])
}

/** Throws unless the page itself sends the request. */
export function requireOwnPage({ origin, host }: Peer): void {
  if (!isOwnOrigin(origin, host)) throw new Refusal('foreign_origin', { param: 'Origin' })
}

export const isServedTo = ({ isOpen }: TryAccess, peer: Peer) => isOpen || isLocal(peer)

/** Returns the page's headers. Throws the same 404 as for an unknown path if this client may not see the page. */
export function pageHeaders(access: TryAccess, peer: Peer, path: string) {
  if (!isServedTo(access, peer)) throw nothingAt(path, [])
  return {
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src 'self'; connect-src ${ownConnections(peer)}; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'microphone=(self)',
    'Cross-Origin-Resource-Policy': 'same-origin',
  } as const
}

/**
 * Returns the sources for `connect-src` in the Content-Security-Policy: 'self' and this server's WebSocket URLs,
 * because in some browsers 'self' does not include WebSockets. The Host header is checked first, because a client can
 * send any text in it.
 */
export function ownConnections({ host }: Peer): string {
  return plainHost.test(host) ? `'self' ws://${host} wss://${host}` : "'self'"
}

/**
 * Reads a page from console/try and fills in the subprotocol prefix. Returns the page for a client. The page says
 * whether it needs a key, because a page that asked the server would have a 404 in the browser's console.
 */
export function readPage(name: string, access: TryAccess): (peer: Peer) => Promise<string> {
  const spelled = `data-prefix="${access.headerPrefix.toLowerCase()}"`
  const asking = readFileSync(packageFile(`console/try/${name}`), 'utf8').replace('data-prefix="service"', spelled)
  const local = asking.replace('data-key="asked"', 'data-key="local"')
  return async (peer) => ((await localCaller(access, peer)) === null ? asking : local)
}

const isLocal = ({ address, host, isForwarded }: Peer) =>
  isLoopbackAddress(address) && isLoopbackAuthority(host) && !isForwarded

const plainHost = /^[\w.:[\]-]+$/
