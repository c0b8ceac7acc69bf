/**
 * Tokens for browsers and apps, which cannot keep a key secret: `v1.<payload>.<HMAC-SHA256>`, both parts base64url
 * without padding. So the text contains neither `=` nor `/` and can be sent as a WebSocket subprotocol (RFC 9110). A
 * token names its API key and contains no part of the key's secret. The key's policy is read when the token is used. If
 * the key has been revoked since then, the token is refused.
 */
import type { Clock } from '../ports/system.ts'
import type { Caller } from '../records/organization.ts'
import { createSignedTokens, createSigner } from './signer.ts'

export type MintedToken = { value: string; expiresInS: number; expiresAtMs: number }
export type Redeemed = { caller: Caller; note?: string }

export type EphemeralTokens = {
  /** Makes a token. `note` is a short text, returned when the token is redeemed. The token's holder can read it. */
  mint: (caller: Caller, note?: string) => MintedToken
  /**
   * Uses up a token. Resolves with null if the token is forged, expired or used, or if its key is revoked or deleted.
   * The calling code cannot distinguish these cases. `permit` is called with the token's API client before the token is
   * used up. If `permit` rejects, `redeem` rejects with the same error and the token stays valid.
   */
  redeem: (value: string, permit: (caller: Caller) => void | Promise<void>) => Promise<Redeemed | null>
}

export interface LiveKeys {
  /** Finds a key in the database, never in a cache. Resolves with null if the key is unknown, revoked or expired. */
  find(organizationId: string, keyId: string): Promise<Caller | null>
}

export interface UsedTokens {
  /** Marks the token as used. Resolves with false if it was used before, in any process. */
  spend(organizationId: string, tokenId: string, expiresAtMs: number): Promise<boolean>
}

export type EphemeralDeps = {
  /** All processes of a deployment must have the same master key, because the signing key is derived from it. */
  masterKey: string
  keys: LiveKeys
  used: UsedTokens
  clock: Clock
  tokenId: () => string
}

/** A token's lifetime in seconds, fixed in the API contract. */
export const tokenLifeS = 60
/** The clocks of two processes may differ by this much. */
const skewMs = 60_000

type Payload = {
  jti: string
  org: string
  key: string
  /** The expiry, in milliseconds since the epoch. */
  exp: number
  note?: string
}

/**
 * The note must be short, because a token travels in a header, and some servers limit all headers together to 4 KiB.
 */
export const noteBytesMax = 1024
export function createEphemeralTokens({ masterKey, keys, used, clock, tokenId }: EphemeralDeps): EphemeralTokens {
  const tokens = createSignedTokens<Payload>(createSigner(masterKey, 'ephemeral token v1'))
  return {
    mint({ organization, keyId }, note) {
      const exp = clock.nowMs() + tokenLifeS * 1000
      if (note !== undefined && Buffer.byteLength(note) > noteBytesMax)
        throw new Error('the note of a token is too long')
      const payload: Payload = { jti: tokenId(), org: organization.id, key: keyId, exp, ...(note && { note }) }
      return { value: tokens.mint(payload), expiresInS: tokenLifeS, expiresAtMs: exp }
    },
    async redeem(value, permit) {
      const payload = tokens.read(value)
      if (payload === null || !isInTime(payload, clock.nowMs())) return null
      const caller = await keys.find(payload.org, payload.key)
      if (caller === null) return null
      await permit(caller)
      if (!(await used.spend(payload.org, payload.jti, payload.exp))) return null
      return payload.note === undefined ? { caller } : { caller, note: payload.note }
    },
  }
}

/**
 * Returns true if the token has not expired. If its expiry is further away than a token's whole life plus `skewMs`, the
 * clock was set back after the token was made. Such a token may have been used already, so the result is false.
 */
function isInTime({ exp }: Payload, nowMs: number): boolean {
  return nowMs < exp && exp <= nowMs + tokenLifeS * 1000 + skewMs
}
