/** The values that bind the provider's answer to the browser that has begun the sign-in. */
export type OidcChecks = { state: string; nonce: string; verifier: string }

/** The claims about a person in a checked ID token. */
export type OidcClaims = {
  issuer: string
  subject: string
  email: string | null
  isEmailVerified: boolean
  name: string | null
}

export interface OidcProvider {
  id: string
  name: string
  /** Returns the provider's page for signing in. Rejects with OidcError `unreachable`. */
  start(redirectUri: string, checks: OidcChecks): Promise<string>
  /** Checks the provider's answer (the query of its redirect) and exchanges the code in it. Rejects with OidcError. */
  finish(redirectUri: string, answer: Readonly<Record<string, string>>, checks: OidcChecks): Promise<OidcClaims>
}

/** `refused`: the answer is forged, was used before, or does not belong to the browser. */
export class OidcError extends Error {
  readonly kind: 'denied' | 'refused' | 'unreachable'

  constructor(kind: OidcError['kind'], options: { cause?: unknown } = {}) {
    super(kind, options)
    this.name = 'OidcError'
    this.kind = kind
  }
}
