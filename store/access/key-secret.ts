/**
 * A secret is `sk_live_<8 characters>_<43 random base62>`. It has 256 random bits, so SHA-256 is enough and a slow
 * password hash would only cost time. An operator may also bring a secret: `sk_live_` or `sk_test_` and 24 characters
 * or more. The lookup uses the digest's first 8 bytes, which reveal nothing about the key. The whole digest then
 * proves the secret.
 */
import { hash } from 'node:crypto'
import { customAlphabet } from 'nanoid'

export type Digested = { lookup: string; digest: Buffer }
type Presented = Digested & { test: boolean }

const pattern = /^sk_(live|test)_[\x21-\x7e]{24,256}$/
const credentialPattern = /^u[ts]_[0-9A-Za-z]{43}$/
const random = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')

/** The secret is shown once. `publicId` is its first part and may be shown again. */
export function newSecret(test: boolean): { secret: string; publicId: string } {
  const publicId = `${test ? 'sk_test' : 'sk_live'}_${random(8)}`
  return { secret: `${publicId}_${random(43)}`, publicId }
}

/** The prefix of a supplied key. It may be shown, because it has no secret characters. */
export const suppliedPublicId = (secret: string) => secret.slice(0, 'sk_live_'.length)

/** Null if the text does not look like an API key. */
export function readSecret(secret: string): Presented | null {
  const kind = pattern.exec(secret)?.[1]
  if (kind === undefined) return null
  return { test: kind === 'test', ...digestOf(secret) }
}

/** A user's new token or session. */
export function newCredential(prefix: string): Digested & { secret: string } {
  const secret = `${prefix}${random(43)}`
  return { secret, ...digestOf(secret) }
}

/** Null if the text does not look like a user's token or session. */
export function readCredential(secret: string): Digested | null {
  return credentialPattern.test(secret) ? digestOf(secret) : null
}

function digestOf(secret: string): Digested {
  const digest = hash('sha256', secret, 'buffer')
  return { lookup: digest.toString('hex', 0, 8), digest }
}
