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
}

type TryHandlers = Pick<InternalHandlers<null>, 'getTryPage' | 'getTryFile' | 'createTryToken' | 'getTryRoute'>

export function tryHandlers(deps: TryDeps): TryHandlers {
  const noStore = { 'Cache-Control': 'no-store' } as const
  const prefix = deps.headerPrefix.toLowerCase()
  const page = readFileSync(new URL('page.html', folder), 'utf8').replace(
    'data-prefix="service"',
    `data-prefix="${prefix}"`,
  )
  const files = new Map(fileNames.map((name) => [name, readFileSync(new URL(name, folder))]))

  return {
    getTryPage: (_request, { peer }) => ({ status: 200, headers: pageHeaders(deps, peer), body: page }),
    getTryFile({ path: { file } }, { peer }) {
      const headers = pageHeaders(deps, peer)
      const body = files.get(file)
      if (!body) throw new Refusal('not_found')
      return { status: 200, headers, body, type: file.endsWith('.css') ? 'text/css' : 'text/javascript' }
    },
    async createTryToken(_request, { peer }) {
      const caller = await admit(deps, peer)
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
      const caller = await admit(deps, peer)
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

async function admit({ caller }: TryDeps, peer: Peer): Promise<Caller> {
  const found = isLocal(peer) ? await caller() : null
  if (found === null) throw new Refusal('not_found')
  return found
}

const isLocal = ({ address, host, forwardedFor }: Peer) =>
  isLoopbackAddress(address) && isLoopbackAuthority(host) && forwardedFor === ''

/** Throws the refusal of a path that does not exist. */
function pageHeaders({ isOpen }: TryDeps, peer: Peer) {
  if (!isLocal(peer) && !isOpen) throw new Refusal('not_found')
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
