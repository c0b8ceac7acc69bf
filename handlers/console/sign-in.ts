/** Handles signing in to the console and signing out. */
import type { OidcSignIn } from '../../domain/access/sign-in/oidc.ts'
import type { Browser } from '../../domain/access/sign-in/people.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import type { Peer } from '../../runtime/engine/handler.ts'
import { isLoopbackAddress, isLoopbackAuthority } from '../../runtime/engine/host.ts'
import {
  type ConsoleDeps,
  clearedCookie,
  currentSession,
  noStore,
  requireOurPage,
  signedIn,
  wireSession,
  withCookie,
} from './signed-in.ts'

type SignInHandlers = Pick<
  InternalHandlers<null>,
  'getConsoleMethods' | 'setUpConsole' | 'signIn' | 'getConsoleSession' | 'chooseOrganization' | 'signOut'
>

const clearing = { ...noStore, 'Clear-Site-Data': '"cache", "storage"' } as const

export function signInHandlers(deps: ConsoleDeps & { oidc: Pick<OidcSignIn, 'providers'> }): SignInHandlers {
  const { signIn, sessions, server, oidc } = deps
  return {
    async getConsoleMethods(_request, { peer }) {
      const setup = !(await signIn.isSetUp())
      const code = setup && !isOnThisMachine(deps, peer)
      const body = { setup, code, password: true, oidc: oidc.providers(), smtp: server.smtp }
      return { status: 200, headers: noStore, body }
    },
    async setUpConsole({ body: { email, name, password, code = '' }, header }, { peer }) {
      requireOurPage(peer)
      const isLocal = isOnThisMachine(deps, peer)
      return withCookie(deps, await signIn.setUp({ email, name, password, code, isLocal }, browserOf(peer, header)))
    },
    async signIn({ body: { email, password, organizationId = null }, header }, { peer }) {
      requireOurPage(peer)
      return withCookie(deps, await signIn.signIn({ email, password, organizationId }, browserOf(peer, header)))
    },
    async getConsoleSession(_request, { peer }) {
      return { status: 200, headers: noStore, body: await wireSession(deps, await signedIn(deps, peer)) }
    },
    async chooseOrganization({ body: { organizationId }, header }, { peer }) {
      const session = await signedIn(deps, peer)
      return withCookie(deps, await signIn.chooseOrganization(session, organizationId, browserOf(peer, header)))
    },
    async signOut({ body: { everywhere }, header }, { peer }) {
      requireOurPage(peer)
      const session = await currentSession(sessions, peer)
      const browser = browserOf(peer, header)
      if (session !== null && everywhere) await sessions.endAll(session.user.id, browser)
      else if (session !== null) await sessions.end(session.user.id, session.id, browser)
      return { status: 204, headers: { ...clearing, 'Set-Cookie': clearedCookie(deps) } }
    },
  }
}

/** Returns the browser's IP address and User-Agent, which the list of sessions shows. */
export function browserOf({ source }: Peer, header: { 'user-agent'?: string }): Browser {
  return { ip: source, userAgent: header['user-agent'] ?? null }
}

/** Returns true if only this machine reaches the server and the request comes from a browser on this machine. */
function isOnThisMachine({ isReachedHereOnly }: ConsoleDeps, { address, host, isForwarded }: Peer): boolean {
  return isReachedHereOnly && isLoopbackAddress(address) && isLoopbackAuthority(host) && !isForwarded
}
