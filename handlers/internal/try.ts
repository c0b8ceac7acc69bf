/**
 * The microphone page. At this machine the user brings no key: the page works on the key of a first local run. So only a browser on this
 * machine may have a token: peer and Host must be loopback (a foreign page whose name was made to point here sends its own Host), and no
 * proxy may have forwarded the request. Where there is no token the page asks for an API key. Other machines get the page only where the
 * deployer allows it; without that they get the answer of a path that does not exist.
 */
import { readFileSync } from 'node:fs'
import type { EphemeralTokens } from '../../domain/access/ephemeral.ts'
import type { Caller } from '../../domain/access/organization.ts'
import type { createPreview } from '../../domain/routing/preview.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import { type Peer, Refusal } from '../../runtime/engine/handler.ts'
import { isLoopbackAddress, isLoopbackAuthority } from '../../runtime/engine/host.ts'
import { preferredType } from '../../runtime/http/accept.ts'
import { nothingAt } from '../../runtime/http/unknown-path.ts'
import { isOwnOrigin } from '../authenticate.ts'
import { wirePreview } from '../views/preview.ts'

export type TryDeps = {
  /** The caller that the page acts for. Without a local key it is null, and the page asks for a key. */
  caller: () => Promise<Caller | null> | Caller | null
  mint: EphemeralTokens['mint']
  preview: ReturnType<typeof createPreview>
  /** Replaces `Service` in names of headers and subprotocols. */
  headerPrefix: string
  /** Other machines get the page too, and never a token. */
  isOpen: boolean
  /** The paths of the contracts that are served beside the page. */
  contracts: string[]
}

type TryHandlers = Pick<
  InternalHandlers<null>,
  'getRoot' | 'getTryPage' | 'getTryFile' | 'createTryToken' | 'getTryRoute'
>

export function tryHandlers(deps: TryDeps): TryHandlers {
  const noStore = { 'Cache-Control': 'no-store' } as const
  const prefix = deps.headerPrefix.toLowerCase()
  const page = readFileSync(new URL('page.html', folder), 'utf8').replace(
    'data-prefix="service"',
    `data-prefix="${prefix}"`,
  )
  const files = new Map(fileNames.map((name) => [name, readFileSync(new URL(name, folder))]))

  return {
    getRoot(_request, { peer, accept }) {
      const isBrowser = preferredType(accept, ['application/json', 'text/html']) === 'text/html'
      if (isBrowser && isServedTo(deps, peer)) return { status: 302, headers: { ...noStore, Location: '/try' } }
      return { status: 200, headers: noStore, body: { name: 'parley', contracts: deps.contracts } }
    },
    getTryPage: (_request, { peer }) => ({ status: 200, headers: pageHeaders(deps, peer, '/try'), body: page }),
    getTryFile({ path: { file } }, { peer }) {
      const headers = pageHeaders(deps, peer, `/try/${file}`)
      const body = files.get(file)
      if (!body) throw nothingAt(`/try/${file}`, [])
      return { status: 200, headers, body, type: file.endsWith('.css') ? 'text/css' : 'text/javascript' }
    },
    async createTryToken(_request, { peer }) {
      const caller = await admit(deps, peer, '/try/token')
      if (!isOwnOrigin(peer.origin, peer.host)) throw new Refusal('foreign_origin', { param: 'Origin' })
      const { value, expiresInS } = deps.mint(caller)
      return {
        status: 200,
        headers: noStore,
        body: {
          client_secret: { value, expires_in: expiresInS },
          subprotocol: `${prefix}.realtime.v1`,
          credential_prefix: `${prefix}.ephemeral.`,
        },
      }
    },
    async getTryRoute({ query }, { peer }) {
      const { stage, language } = query
      const caller = await admit(deps, peer, '/try/route')
      const routing = { mode: 'auto', objective: caller.policy.objective ?? 'balanced' } as const
      const preview = deps.preview({ caller, stage, routing, isSocket: true, ...(language && { language }) })
      return { status: 200, headers: noStore, body: wirePreview(preview) }
    },
  }
}

/** The folder beside package.json, seen from the sources and from the compiled files in dist/. */
const folder = new URL(
  import.meta.url.endsWith('.js') ? '../../../console/try/' : '../../console/try/',
  import.meta.url,
)

/** app.js imports the others; the worklet runs beside the page. */
const fileNames = ['app.js', 'audio.js', 'curl.js', 'lists.js', 'route.js', 'server.js', 'style.css', 'worklet.js']

async function admit({ caller }: TryDeps, peer: Peer, path: string): Promise<Caller> {
  const found = isLocal(peer) ? await caller() : null
  if (found === null) throw nothingAt(path, [])
  return found
}

const isLocal = ({ address, host, forwardedFor }: Peer) =>
  isLoopbackAddress(address) && isLoopbackAuthority(host) && forwardedFor === ''

const isServedTo = ({ isOpen }: TryDeps, peer: Peer) => isOpen || isLocal(peer)

/** Throws the refusal of a path at which nothing is served. */
function pageHeaders(deps: TryDeps, peer: Peer, path: string) {
  if (!isServedTo(deps, peer)) throw nothingAt(path, [])
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

const plainHost = /^[\w.:[\]-]+$/
