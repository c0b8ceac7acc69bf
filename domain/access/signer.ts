/**
 * Signs strings for the server's own use, such as links and tokens: HMAC-SHA256 with a key derived from the master key.
 * All processes of a deployment share the master key, so each accepts the signatures of the others.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

export type Signer = {
  /** Returns 43 characters, base64url without padding. */
  sign: (text: string) => string
  isSignature: (text: string, signature: string) => boolean
}

/**
 * Each `purpose` has a separate derived key (RFC 5869). So a signature for one purpose is refused for another, and a
 * leaked derived key does not reveal another key.
 */
export function createSigner(masterKey: string, purpose: string): Signer {
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32))
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url')
  return {
    sign,
    // Compares the signatures as base64url strings, not as decoded bytes. Decoding ignores the last letter's two spare
    // bits, so an altered signature would pass.
    isSignature: (text, signature) => {
      const [given, expected] = [Buffer.from(signature), Buffer.from(sign(text))]
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
  }
}

export type SignedTokens<Payload> = {
  mint(payload: Payload): string
  /** Returns null if this server did not make the token. */
  read(token: string): Payload | null
}

/** All tokens from this server are shorter, so a longer text is refused without computing an HMAC. */
const charactersMax = 4096

/** Makes tokens `v1.<payload>.<signature>`. The payload is JSON in base64url, so anybody can read it. */
export function createSignedTokens<Payload>({ sign, isSignature }: Signer): SignedTokens<Payload> {
  return {
    mint(payload) {
      const signed = `v1.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`
      return `${signed}.${sign(signed)}`
    },
    read(token) {
      if (token.length > charactersMax) return null
      const [, signed, payload, signature] = /^(v1\.([\w-]+))\.([\w-]{43})$/.exec(token) ?? []
      if (signed === undefined || payload === undefined || signature === undefined) return null
      if (!isSignature(signed, signature)) return null
      return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Payload
    },
  }
}
