/**
 * This file decides which clients get the pages below `/try`. At this machine the user brings no key: the pages work on the key of a first local run. So only a browser on
 * this machine may have a token: peer and Host must be loopback (a foreign page whose name was made to point here sends its own Host), and no
 * proxy may have forwarded the request. Where there is no token the page asks for an API key. Other machines get the page only where the
 * deployer allows it; without that they get the answer of a path that does not exist.
 */
import { readFileSync } from 'node:fs'
import type { Caller } from '../../domain/records/organization.ts'
import { type Peer, Refusal } from '../../runtime/engine/handler.ts'
import { isLoopbackAddress, isLoopbackAuthority } from '../../runtime/engine/host.ts'
import { nothingAt } from '../../runtime/http/unknown-path.ts'
import { packageFile } from '../../runtime/package-file.ts'
import { isOwnOrigin } from '../authenticate.ts'

export type TryAccess = {
  /** The caller that the page acts for. Without a local key it is null, and the page asks for a key. */
  caller: () => Promise<Caller | null> | Caller | null
  /** Replaces `Service` in names of headers and subprotocols. */
  headerPrefix: string
  /** Other machines get the page too, and never a token. */
  isOpen: boolean
}

export const noStore = { 'Cache-Control': 'no-store' } as const

/** Throws the refusal of a path at which nothing is served. */
export async function admitLocal({ caller }: TryAccess, peer: Peer, path: string): Promise<Caller> {
  const found = isLocal(peer) ? await caller() : null
  if (found === null) throw nothingAt(path, [])
  return found
}

/** Throws the refusal of a path at which nothing is served, unless a client of this machine asks. */
export function requireLocal(peer: Peer, path: string): void {
  if (!isLocal(peer)) throw nothingAt(path, [])
}

/** Throws unless the page itself asks. */
export function requireOwnPage({ origin, host }: Peer): void {
  if (!isOwnOrigin(origin, host)) throw new Refusal('foreign_origin', { param: 'Origin' })
}

export const isServedTo = ({ isOpen }: TryAccess, peer: Peer) => isOpen || isLocal(peer)

/** Throws the refusal of a path at which nothing is served. */
export function pageHeaders(access: TryAccess, peer: Peer, path: string) {
  if (!isServedTo(access, peer)) throw nothingAt(path, [])
  // Sockets are listed beside 'self', because not every browser includes them in it. A client can send any Host.
  const own = plainHost.test(peer.host) ? `'self' ws://${peer.host} wss://${peer.host}` : "'self'"
  return {
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src 'self'; connect-src ${own}; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'microphone=(self)',
    'Cross-Origin-Resource-Policy': 'same-origin',
  } as const
}

/** A page of console/try, which learns how subprotocols are spelled. */
export function readPage(name: string, { headerPrefix }: TryAccess): string {
  const spelled = `data-prefix="${headerPrefix.toLowerCase()}"`
  return readFileSync(packageFile(`console/try/${name}`), 'utf8').replace('data-prefix="service"', spelled)
}

const isLocal = ({ address, host, isForwarded }: Peer) =>
  isLoopbackAddress(address) && isLoopbackAuthority(host) && !isForwarded

const plainHost = /^[\w.:[\]-]+$/
