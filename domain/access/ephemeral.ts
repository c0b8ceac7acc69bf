/**
 * Tokens for browsers, which can hold no key: `v1.<payload>.<HMAC-SHA256>`, both parts base64url without padding, so that a token can be
 * offered as a WebSocket subprotocol (RFC 9110 tokens have neither `=` nor `/`). A token names its key and carries nothing of it: what the key may
 * do is read when the token is used, and a key that was revoked meanwhile opens nothing.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../ports/system.ts'
import type { Caller } from './organization.ts'

export type MintedToken = { value: string; expiresInS: number }

export type EphemeralTokens = {
  mint: (caller: Caller) => MintedToken
  /**
   * Null: not of ours, expired, used before, or its key lives no longer; the caller cannot tell which. `permit` sees whom the token speaks for before
   * it is spent: what it rejects with is passed on, and the token stays good.
   */
  redeem: (value: string, permit: (caller: Caller) => void | Promise<void>) => Promise<Caller | null>
}

export interface LiveKeys {
  /** Asks the store itself, never a cache. Null: no such key, revoked or expired. */
  find(organizationId: string, keyId: string): Promise<Caller | null>
}

export interface UsedTokens {
  /** False when the token was spent before, in whichever process. */
  spend(organizationId: string, tokenId: string, expiresAtMs: number): Promise<boolean>
}

export type EphemeralDeps = {
  /** What signing keys are derived from; the same in all processes that serve one address. */
  masterKey: string
  keys: LiveKeys
  used: UsedTokens
  clock: Clock
  tokenId: () => string
}

/** Part of the contract. */
export const tokenLifeS = 60

type Payload = { jti: string; org: string; key: string /** Milliseconds since the epoch. */; exp: number }

/** Longer than any token of ours: what is longer is not worth an HMAC. */
const charactersMax = 1024

export function createEphemeralTokens({ masterKey, keys, used, clock, tokenId }: EphemeralDeps): EphemeralTokens {
  // A key of its own for each use of the master key (RFC 5869): what leaks of one tells nothing about another.
  const signingKey = Buffer.from(hkdfSync('sha256', masterKey, '', 'ephemeral token v1', 32))
  const sign = (signed: string) => createHmac('sha256', signingKey).update(signed).digest()

  function read(value: string): Payload | null {
    if (value.length > charactersMax) return null
    const [, signed, payload, signature] = /^(v1\.([\w-]+))\.([\w-]{43})$/.exec(value) ?? []
    if (signed === undefined || payload === undefined || signature === undefined) return null
    if (!timingSafeEqual(Buffer.from(signature, 'base64url'), sign(signed))) return null
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Payload
  }

  return {
    mint({ organization, keyId }) {
      const exp = clock.nowMs() + tokenLifeS * 1000
      const payload: Payload = { jti: tokenId(), org: organization.id, key: keyId, exp }
      const signed = `v1.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`
      return { value: `${signed}.${sign(signed).toString('base64url')}`, expiresInS: tokenLifeS }
    },
    async redeem(value, permit) {
      const payload = read(value)
      if (payload === null || payload.exp <= clock.nowMs()) return null
      const caller = await keys.find(payload.org, payload.key)
      if (caller === null) return null
      await permit(caller)
      return (await used.spend(payload.org, payload.jti, payload.exp)) ? caller : null
    },
  }
}
