/**
 * Makes tokens for one session's media channel: `v1.<payload>.<HMAC-SHA256>`, both parts base64url without padding, as
 * in `domain/access/ephemeral.ts`. The two kinds of tokens are signed with different keys, so neither is accepted in
 * place of the other. A token may be used again: a page rejoins with the same token after losing its socket.
 * `expiresAtMs` limits only the first join. The calling code checks it, because only that code knows if the session was
 * joined before.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
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

/** All tokens from this server are shorter, so a longer text is refused without computing an HMAC. */
const charactersMax = 4096

/** `masterKey` must be the same in all processes behind one address. */
export function createTransportTokens(masterKey: string): TransportTokens {
  // Each use of the master key has a separate derived key (RFC 5869), so a leaked derived key does not reveal another
  // key.
  const signingKey = Buffer.from(hkdfSync('sha256', masterKey, '', 'session transport token v1', 32))
  const sign = (signed: string) => createHmac('sha256', signingKey).update(signed).digest('base64url')
  return {
    mint({ sessionId, identity, organizationId, keyId, expiresAtMs, person }) {
      const payload: Payload = {
        sid: sessionId,
        sub: identity,
        org: organizationId,
        key: keyId,
        exp: expiresAtMs,
        ...(person && { person: person.displayName }),
      }
      const signed = `v1.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`
      return `${signed}.${sign(signed)}`
    },
    read(token) {
      if (token.length > charactersMax) return null
      const [, signed, payload, signature] = /^(v1\.([\w-]+))\.([\w-]{43})$/.exec(token) ?? []
      if (signed === undefined || payload === undefined || signature === undefined) return null
      // Compares texts, not bytes: base64 decoding ignores the last letter's two spare bits, so an altered text would
      // pass.
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(sign(signed)))) return null
      const { sid, sub, org, key, exp, person } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Payload
      const claims = { sessionId: sid, identity: sub, organizationId: org, keyId: key, expiresAtMs: exp }
      return person === undefined ? claims : { ...claims, person: { displayName: person } }
    },
  }
}

export function mediaUrl(publicUrl: string, sessionId: string): string {
  return `${publicUrl.replace(/^http/, 'ws')}/v1/sessions/${sessionId}/media`
}
