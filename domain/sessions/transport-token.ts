/**
 * Makes tokens for one session's media channel: `v1.<payload>.<HMAC-SHA256>`, both parts base64url without padding, as
 * in `domain/access/ephemeral.ts`. The two kinds of tokens are signed with different keys, so neither is accepted in
 * place of the other. A token may be used again: a page rejoins with the same token after losing its socket.
 * `expiresAtMs` limits only the first join. The calling code checks it, because only that code knows if the session was
 * joined before.
 */
import { createSignedTokens, createSigner } from '../access/signer.ts'
import type { Call } from '../records/call.ts'

export type TransportClaims = {
  sessionId: string
  /** The token holder's name in this session. */
  identity: string
  organizationId: string
  /** The API key that started the session. It must still be valid at each join. */
  keyId: string
  /** The join deadline in milliseconds since the epoch. */
  expiresAtMs: number
  /** Present if the token's holder joins beside the session's user. */
  person?: { displayName: string | null }
}

export type TransportTokens = {
  mint(claims: TransportClaims): string
  /** Returns null if this server did not make the token. */
  read(token: string): TransportClaims | null
}

type ClaimedCall = Pick<Call, 'id' | 'identity' | 'organizationId' | 'keyId' | 'expiresAtMs'>

export function claimsOf({ id, identity, organizationId, keyId, expiresAtMs }: ClaimedCall): TransportClaims {
  return { sessionId: id, identity, organizationId, keyId, expiresAtMs }
}

type Payload = { sid: string; sub: string; org: string; key: string; exp: number; person?: string | null }

/** `masterKey` must be the same in all processes of a deployment. */
export function createTransportTokens(masterKey: string): TransportTokens {
  const tokens = createSignedTokens<Payload>(createSigner(masterKey, 'session transport token v1'))
  return {
    mint({ sessionId, identity, organizationId, keyId, expiresAtMs, person }) {
      return tokens.mint({
        sid: sessionId,
        sub: identity,
        org: organizationId,
        key: keyId,
        exp: expiresAtMs,
        ...(person && { person: person.displayName }),
      })
    },
    read(token) {
      const payload = tokens.read(token)
      if (payload === null) return null
      const { sid, sub, org, key, exp, person } = payload
      const claims = { sessionId: sid, identity: sub, organizationId: org, keyId: key, expiresAtMs: exp }
      return person === undefined ? claims : { ...claims, person: { displayName: person } }
    },
  }
}

export function mediaUrl(publicUrl: string, sessionId: string): string {
  return `${publicUrl.replace(/^http/, 'ws')}/v1/sessions/${sessionId}/media`
}
