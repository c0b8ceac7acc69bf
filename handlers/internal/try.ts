/** Serves the microphone page, and the files for all pages below `/try`. */
import { readFileSync } from 'node:fs'
import type { EphemeralTokens } from '../../domain/access/ephemeral.ts'
import type { createPreview } from '../../domain/routing/preview.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import { preferredType } from '../../runtime/http/accept.ts'
import { nothingAt } from '../../runtime/http/unknown-path.ts'
import { packageFile } from '../../runtime/package-file.ts'
import { wirePreview } from '../views/preview.ts'
import { admitLocal, isServedTo, noStore, pageHeaders, readPage, requireOwnPage, type TryAccess } from './try-access.ts'

export type TryDeps = TryAccess & {
  mint: EphemeralTokens['mint']
  preview: ReturnType<typeof createPreview>
  /** The paths of the contracts that the page links to. */
  contracts: string[]
}

type TryHandlers = Pick<
  InternalHandlers<null>,
  'getRoot' | 'getTryPage' | 'getTryFile' | 'createTryToken' | 'getTryRoute'
>

export function tryHandlers(deps: TryDeps): TryHandlers {
  const prefix = deps.headerPrefix.toLowerCase()
  const page = readPage('page.html', deps)
  const files = new Map(
    fileNames.map((name) => [name.replace(/.*\//, ''), readFileSync(packageFile(`console/${name}`))]),
  )

  return {
    getRoot(_request, { peer, accept }) {
      const isBrowser = preferredType(accept, ['application/json', 'text/html']) === 'text/html'
      if (isBrowser && isServedTo(deps, peer)) return { status: 302, headers: { ...noStore, Location: '/try' } }
      return { status: 200, headers: noStore, body: { name: 'parley', contracts: deps.contracts } }
    },
    async getTryPage(_request, { peer }) {
      return { status: 200, headers: pageHeaders(deps, peer, '/try'), body: await page(peer) }
    },
    getTryFile({ path: { file } }, { peer }) {
      const headers = pageHeaders(deps, peer, `/try/${file}`)
      const body = files.get(file)
      if (!body) throw nothingAt(`/try/${file}`, [])
      return { status: 200, headers, body, type: file.endsWith('.css') ? 'text/css' : 'text/javascript' }
    },
    async createTryToken(_request, { peer }) {
      const caller = await admitLocal(deps, peer, '/try/token')
      requireOwnPage(peer)
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
      const caller = await admitLocal(deps, peer, '/try/route')
      const routing = { mode: 'auto', objective: caller.policy.objective ?? 'balanced' } as const
      const preview = deps.preview({ caller, stage, routing, isSocket: true, ...(language && { language }) })
      return { status: 200, headers: noStore, body: wirePreview(preview) }
    },
  }
}

/**
 * All files are served from one folder, so that they can import each other. An audio worklet is a separate file,
 * because it runs in another thread than the page's scripts.
 */
const fileNames = [
  ...['app', 'audio', 'lists', 'microphone', 'reach', 'route', 'saving', 'server', 'worklet'].map(
    (name) => `try/${name}.js`,
  ),
  ...['copying', 'curl', 'node', 'python', 'speech-request'].map((name) => `try/${name}.js`),
  ...['agent', 'agent-server', 'agent-turns', 'languages', 'waterfall'].map((name) => `try/${name}.js`),
  'tokens.css',
  ...['style', 'agent'].map((name) => `try/${name}.css`),
  ...['audio', 'client', 'socket', 'worklet'].map((name) => `session/session-${name}.js`),
  ...['end-words', 'frame-cutter', 'page-speaker', 'playout', 'resampler'].map((name) => `session/${name}.js`),
]
