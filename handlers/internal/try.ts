/**
 * The microphone page. The user brings no key: the page works on the key of a first local run. So only a browser on this machine may have it:
 * peer and Host must be loopback (a foreign page whose name was made to point here sends its own Host), and no proxy may have forwarded
 * the request. Any other client gets the answer of a path that does not exist.
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
  /** The caller that the page acts for. Without a local key it is null, and there is no page. */
  caller: () => Promise<Caller | null> | Caller | null
  mint: EphemeralTokens['mint']
  preview: ReturnType<typeof createPreview>
  /** Replaces `Service` in names of headers and subprotocols. */
  headerPrefix: string
}

type TryHandlers = Pick<
  InternalHandlers<null>,
  'getTryPage' | 'getTryScript' | 'getTryWorklet' | 'getTryStyle' | 'createTryToken' | 'getTryRoute'
>

export function tryHandlers(deps: TryDeps): TryHandlers {
  const noStore = { 'Cache-Control': 'no-store' } as const
  const prefix = deps.headerPrefix.toLowerCase()
  const file = (name: string) => {
    const body = readFileSync(new URL(name, folder))
    return async (_request: unknown, { peer }: { peer: Peer }) => {
      await admit(deps, peer)
      return { status: 200, headers: pageHeaders(peer), body } as const
    }
  }

  return {
    getTryPage: file('page.html'),
    getTryScript: file('app.js'),
    getTryWorklet: file('worklet.js'),
    getTryStyle: file('style.css'),
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

async function admit({ caller }: TryDeps, { address, host, forwardedFor }: Peer): Promise<Caller> {
  const isLocal = isLoopbackAddress(address) && isLoopbackAuthority(host) && forwardedFor === ''
  const found = isLocal ? await caller() : null
  if (found === null) throw new Refusal('not_found')
  return found
}

function pageHeaders({ host }: Peer) {
  // Sockets are listed beside 'self', because not every browser includes them in it. Host has been checked to be a loopback name.
  const own = `'self' ws://${host} wss://${host}`
  return {
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src 'self'; connect-src ${own}; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Permissions-Policy': 'microphone=(self)',
    'Cross-Origin-Resource-Policy': 'same-origin',
  } as const
}
