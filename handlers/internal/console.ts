/**
 * Serves the console's program, which the build has written into a folder. The page is the same at each path below
 * `/console`, because the program reads the path. A browser without a session gets the page `signed-out.html`, whose
 * program does not ask for the session. The program holds no data, so everybody may load it: its requests
 * need a session. The build has compressed each file with gzip, because browsers take Brotli only over TLS.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type {
  GetConsoleAssetResult,
  GetConsoleRequest,
  GetConsoleResult,
  InternalHandlers,
} from '../../generated/internal/handlers.ts'
import type { Peer } from '../../runtime/engine/handler.ts'
import { nothingAt } from '../../runtime/http/unknown-path.ts'
import { cookieValue, sessionCookie } from '../authenticate.ts'
import { isKnown, listFiles, tagOf } from './files.ts'
import { ownConnections } from './try-access.ts'

export type ConsoleDeps = { consoleFolder: string }

type ConsoleHandlers = Pick<
  InternalHandlers<null>,
  'getConsole' | 'getConsolePage' | 'getConsolePart' | 'getConsoleAsset'
>
type Served = { bytes: Buffer; encoding: { 'Content-Encoding'?: 'gzip' } }

const types = { '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml' } as const
const shared = {
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const
const immutable = 'public, max-age=31536000, immutable'
/** The paths below these folders are files or operations, never a page. */
const noPages: readonly string[] = ['assets', 'auth']

export function consoleHandlers({ consoleFolder }: ConsoleDeps): ConsoleHandlers {
  const names = new Set(listFiles(consoleFolder))

  async function read(name: string, accepted = ''): Promise<Served> {
    const isCompressed = takesGzip(accepted) && names.has(`${name}.gz`)
    const bytes = await readFile(path.join(consoleFolder, isCompressed ? `${name}.gz` : name))
    return { bytes, encoding: isCompressed ? { 'Content-Encoding': 'gzip' } : {} }
  }

  async function servePage(
    header: GetConsoleRequest['header'],
    peer: Peer,
    address: string,
  ): Promise<GetConsoleResult> {
    // Unbuilt sources have no console.
    if (!names.has('index.html')) throw nothingAt(address, [])
    const isSignedOut = cookieValue(peer.cookie, sessionCookie) === null
    const { bytes, encoding } = await read(isSignedOut ? 'signed-out.html' : 'index.html', header['accept-encoding'])
    const headers = { ...shared, ...pageHeaders(peer, isSignedOut), ETag: tagOf(bytes) }
    if (isKnown(header['if-none-match'] ?? '', headers.ETag)) return { status: 304, headers }
    return { status: 200, type: 'text/html; charset=utf-8', headers: { ...headers, ...encoding }, body: bytes }
  }

  async function serveAsset(file: string, accepted: string | undefined): Promise<GetConsoleAssetResult> {
    const name = `assets/${file}`
    const type = types[path.extname(file) as keyof typeof types]
    if (!names.has(name) || type === undefined) throw nothingAt(`/console/${name}`, [])
    const { bytes, encoding } = await read(name, accepted)
    const headers = { ...shared, ...encoding, Vary: 'Accept-Encoding', 'Cache-Control': immutable } as const
    return { status: 200, type, headers, body: bytes }
  }

  return {
    getConsole: ({ header }, { peer }) => servePage(header, peer, '/console'),
    getConsolePage: ({ path: { page }, header }, { peer }) => servePage(header, peer, pageAt(page)),
    getConsolePart: ({ path: { page, part }, header }, { peer }) => servePage(header, peer, pageAt(page, part)),
    getConsoleAsset: ({ path: { file }, header }) => serveAsset(file, header['accept-encoding']),
  }
}

/** Returns a page's path. Throws the refusal for an unknown path if the path cannot be a page. */
function pageAt(page: string, part = ''): string {
  const address = `/console/${page}${part && `/${part}`}`
  if (noPages.includes(page)) throw nothingAt(address, [])
  return address
}

function pageHeaders(peer: Peer, isSignedOut: boolean) {
  return {
    Vary: 'Accept-Encoding, Cookie',
    // If a browser goes back, it takes a stored page without asking. A person may have signed in by then.
    'Cache-Control': isSignedOut ? 'no-store' : 'no-cache',
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src 'self'; connect-src ${ownConnections(peer)}; img-src 'self' data:; media-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'microphone=(self)',
  } as const
}

/** Returns true if the client accepts gzip. RFC 9110, 12.5.3: the weight 0 refuses a compression. */
function takesGzip(accepted: string): boolean {
  return accepted.split(',').some((each) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(each))
}
