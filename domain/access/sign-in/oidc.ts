/** Signing in with an OpenID Connect provider. */
import { randomBytes } from 'node:crypto'
import { type OidcClaims, OidcError, type OidcProvider } from '../../ports/oidc.ts'
import type { Clock, Log } from '../../ports/system.ts'
import type { Role } from '../../records/organization.ts'
import { requireResource } from '../../records/resource-fault.ts'
import type { Browser, OpenedSession, SessionStore } from './people.ts'
import type { StateSeal } from './sealed-state.ts'

/** If a person's verified e-mail address has one of the domains, the person gets the role. */
export type Joining = { domains: readonly string[]; organizationId: string | null; role: Role }

export type OidcEntry = {
  provider: string
  issuer: string
  subject: string
  /** In lower case. Null if the provider has not verified an e-mail address. */
  verifiedEmail: string | null
  name: string | null
  joining: Joining
  browser: Browser
  now: Date
}

export type OidcStore = {
  /**
   * Finds the person who is linked to this issuer and subject. If this person has no role, an open invitation to the
   * verified e-mail address gives a role. If no person is linked, and there is an open invitation to the address or a
   * fitting domain, links the person with this address, and gives the role. A linked person loses the password,
   * because a stranger may have set it. Resolves with null if nothing fits.
   */
  enter(entry: OidcEntry): Promise<{ userId: string; organizationId: string | null } | null>
}

export type OidcFailure = 'oidc_state' | 'oidc_denied' | 'oidc_no_account' | 'oidc_unverified'

export type OidcDeps = {
  providers: readonly { provider: OidcProvider; joining: Joining }[]
  people: OidcStore
  sessions: Pick<SessionStore, 'open'>
  seal: StateSeal
  clock: Pick<Clock, 'nowMs'>
  log: Pick<Log, 'warn'>
  sessionS: number
  baseUrl: () => string
}

export type OidcSignIn = {
  providers(): { id: string; name: string }[]
  /** Throws ResourceFault `not_found` for an unknown provider. `sealed` is for the cookie. */
  start(id: string, returnTo: string): Promise<{ location: string; sealed: string }>
  /** `sealed` is the cookie, or null. `answer` is the redirect's query. */
  finish(
    id: string,
    answer: Readonly<Record<string, string>>,
    sealed: string | null,
    browser: Browser,
  ): Promise<{ opened: OpenedSession; returnTo: string } | OidcFailure>
}

export const stateLifeS = 600
const randomBytesOfCheck = 32

export function createOidcSignIn(deps: OidcDeps): OidcSignIn {
  const { providers, people, sessions, seal, clock, log, sessionS, baseUrl } = deps
  const find = (id: string) => requireResource(providers.find(({ provider }) => provider.id === id) ?? null)
  const redirectUri = (id: string) => `${baseUrl().replace(/\/+$/, '')}/console/auth/oidc/${id}/callback`

  async function open(id: string, joining: Joining, claims: OidcClaims, browser: Browser) {
    const { issuer, subject, email, isEmailVerified, name } = claims
    const now = new Date(clock.nowMs())
    const verifiedEmail = isEmailVerified && email !== null ? email.toLowerCase() : null
    const entered = await people.enter({ provider: id, issuer, subject, verifiedEmail, name, joining, browser, now })
    if (entered === null) return verifiedEmail === null ? 'oidc_unverified' : 'oidc_no_account'
    const expiresAt = new Date(now.getTime() + sessionS * 1000)
    const opened = await sessions.open({ ...entered, method: id, browser, signedInAt: now, expiresAt })
    return opened ?? 'oidc_no_account'
  }

  return {
    providers: () => providers.map(({ provider: { id, name } }) => ({ id, name })),
    async start(id, returnTo) {
      const { provider } = find(id)
      const checks = { state: random(), nonce: random(), verifier: random() }
      const location = await provider.start(redirectUri(id), checks)
      const expiresMs = clock.nowMs() + stateLifeS * 1000
      return { location, sealed: seal.seal({ ...checks, provider: id, returnTo: pageOf(returnTo), expiresMs }) }
    },
    async finish(id, answer, sealed, browser) {
      const { provider, joining } = find(id)
      const state = sealed === null ? null : seal.open(sealed)
      if (state === null || state.provider !== id || state.expiresMs <= clock.nowMs()) return 'oidc_state'
      try {
        const claims = await provider.finish(redirectUri(id), answer, state)
        const opened = await open(id, joining, claims, browser)
        return typeof opened === 'string' ? opened : { opened, returnTo: state.returnTo }
      } catch (error) {
        if (!(error instanceof OidcError)) throw error
        log.warn({ provider: id, kind: error.kind, err: error.cause }, 'a sign-in with a provider failed')
        return error.kind === 'refused' ? 'oidc_state' : 'oidc_denied'
      }
    },
  }
}

const random = () => randomBytes(randomBytesOfCheck).toString('base64url')

/** Returns the page if it is below `/console/`, else the console's start page. */
function pageOf(returnTo: string): string {
  return /^\/console\/(?![/\\])[\w./~!$&'()*+,;=:@%?#-]*$/.test(returnTo) ? returnTo : '/console/'
}
