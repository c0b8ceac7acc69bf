/** OpenID Connect with PKCE. The package checks state, issuer, nonce and the ID token's signature. */
import * as client from 'openid-client'
import { type OidcChecks, type OidcClaims, OidcError, type OidcProvider } from '../../domain/ports/oidc.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { isLoopbackHost } from '../../runtime/engine/host.ts'

export type OidcSettings = {
  id: string
  name: string
  issuer: string
  clientId: string
  clientSecret: string
  scopes: readonly string[]
}

const discoveryLifeMs = 3_600_000
const requestS = 10

export function createOidcProvider(settings: OidcSettings, clock: Pick<Clock, 'nowMs'>): OidcProvider {
  const { id, name, issuer, clientId, clientSecret, scopes } = settings
  let known: { config: client.Configuration; untilMs: number } | null = null

  async function configuration(): Promise<client.Configuration> {
    if (known !== null && known.untilMs > clock.nowMs()) return known.config
    const url = new URL(issuer)
    // Plain HTTP is accepted only for a provider on this machine, such as a test's.
    const execute = isLoopbackHost(url.hostname) ? [client.allowInsecureRequests] : []
    try {
      const config = await client.discovery(url, clientId, clientSecret, undefined, { execute, timeout: requestS })
      known = { config, untilMs: clock.nowMs() + discoveryLifeMs }
      return config
    } catch (cause) {
      throw new OidcError('unreachable', { cause })
    }
  }

  return {
    id,
    name,
    async start(redirectUri, { state, nonce, verifier }) {
      const config = await configuration()
      const challenge = await client.calculatePKCECodeChallenge(verifier)
      const parameters = {
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state,
        nonce,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }
      return client.buildAuthorizationUrl(config, parameters).href
    },
    async finish(redirectUri, answer, checks) {
      const config = await configuration()
      const url = new URL(redirectUri)
      for (const [field, value] of Object.entries(answer)) url.searchParams.set(field, value)
      return claimsOf(config, await exchange(config, url, checks))
    },
  }
}

async function exchange(config: client.Configuration, url: URL, { state, nonce, verifier }: OidcChecks) {
  try {
    return await client.authorizationCodeGrant(config, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
  } catch (cause) {
    throw new OidcError(cause instanceof client.AuthorizationResponseError ? 'denied' : 'refused', { cause })
  }
}

type Tokens = Awaited<ReturnType<typeof exchange>>

/**
 * Returns the person's claims. Many providers put the e-mail address only into the UserInfo response and not into the
 * ID token.
 */
async function claimsOf(config: client.Configuration, tokens: Tokens): Promise<OidcClaims> {
  const claims = tokens.claims()
  if (claims === undefined) throw new OidcError('refused')
  const hasUserInfo = claims['email'] === undefined && config.serverMetadata().userinfo_endpoint !== undefined
  const more = hasUserInfo ? await userInfo(config, tokens.access_token, claims.sub) : {}
  const { email, email_verified: isEmailVerified, name } = { ...more, ...claims } as Record<string, unknown>
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: typeof email === 'string' ? email : null,
    isEmailVerified: isEmailVerified === true,
    name: typeof name === 'string' ? name : null,
  }
}

async function userInfo(config: client.Configuration, accessToken: string, subject: string) {
  try {
    return await client.fetchUserInfo(config, accessToken, subject)
  } catch (cause) {
    throw new OidcError('refused', { cause })
  }
}
