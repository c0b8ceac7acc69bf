/**
 * Signing in with a provider of OpenID Connect. The browser navigates to these operations, so no page's script sees
 * their responses.
 */
import { type OidcSignIn, stateLifeS } from '../../domain/access/sign-in/oidc.ts'
import { OidcError } from '../../domain/ports/oidc.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { cookieValue } from '../authenticate.ts'
import { browserOf } from './sign-in.ts'
import { type ConsoleDeps, noStore, setCookie } from './signed-in.ts'

type OidcHandlers = Pick<InternalHandlers<null>, 'startOidc' | 'finishOidc'>

export type OidcHandlerDeps = ConsoleDeps & { oidc: OidcSignIn }

const stateCookie = 'parley_oidc'
const shared = { ...noStore, 'Referrer-Policy': 'no-referrer' } as const

function unreachable(cause: unknown): never {
  if (!(cause instanceof OidcError)) throw cause
  throw new Refusal('overloaded', { message: 'The provider does not answer.', hint: 'Try again.', cause })
}

export function oidcHandlers(deps: OidcHandlerDeps): OidcHandlers {
  const { oidc, isSecure } = deps
  const stateCookieOf = (value: string, lifeS: number) =>
    `${stateCookie}=${value}; Path=/console/auth/oidc; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}; Max-Age=${lifeS}`
  const redirect = (location: string, cookies: string[]) =>
    ({ status: 302, headers: { ...shared, Location: location, 'Set-Cookie': cookies } }) as const

  return {
    async startOidc({ path: { id }, query: { returnTo = '/console/' } }) {
      const { location, sealed } = await oidc.start(id, returnTo).catch(unreachable)
      return redirect(location, [stateCookieOf(sealed, stateLifeS)])
    },
    async finishOidc({ path: { id }, query, header }, { peer }) {
      const sealed = cookieValue(peer.cookie, stateCookie)
      const finished = await oidc.finish(id, query, sealed, browserOf(peer, header))
      const cleared = stateCookieOf('', 0)
      if (typeof finished === 'string') return redirect(`/console/login?error=${finished}`, [cleared])
      const { opened, returnTo } = finished
      return redirect(returnTo, [cleared, setCookie(deps, opened.secret, opened.session)])
    },
  }
}
