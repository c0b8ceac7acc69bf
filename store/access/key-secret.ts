/**
 * A secret is `sk_live_<8 characters>_<43 random base62>`. It has 256 random bits, so SHA-256 is enough and a slow
 * password hash would only cost time. An operator may also supply a secret: `sk_live_` or `sk_test_` and 24 characters
 * or more. A row is found by the first 8 bytes from the secret's digest, which reveal nothing about the key. The
 * comparison with the whole digest then proves the secret.
 */
import { hash } from 'node:crypto'
import { customAlphabet } from 'nanoid'

export type Digested = { lookup: string; digest: Buffer }
type Presented = Digested & { test: boolean }

const pattern = /^sk_(live|test)_[\x21-\x7e]{24,256}$/
const credentialPattern = /^u[ts]_[0-9A-Za-z]{43}$/
const random = customAlphabet('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')

/** Makes an API key's secret, which is shown once. `publicId` is its first part and may be shown again. */
export function newSecret(test: boolean): { secret: string; publicId: string } {
  const publicId = `${test ? 'sk_test' : 'sk_live'}_${random(8)}`
  return { secret: `${publicId}_${random(43)}`, publicId }
}

/** Returns the public id for a supplied key: only its prefix, because the other characters are secret. */
export const suppliedPublicId = (secret: string) => secret.slice(0, 'sk_live_'.length)

/** Returns null if the text does not look like an API key. */
export function readSecret(secret: string): Presented | null {
  const kind = pattern.exec(secret)?.[1]
  if (kind === undefined) return null
  return { test: kind === 'test', ...digestOf(secret) }
}

/** Makes a user's token or session. */
export function newCredential(prefix: string): Digested & { secret: string } {
  const secret = `${prefix}${random(43)}`
  return { secret, ...digestOf(secret) }
}

/** Returns null if the text does not look like a user's token or session. */
export function readCredential(secret: string): Digested | null {
  return credentialPattern.test(secret) ? digestOf(secret) : null
}

function digestOf(secret: string): Digested {
  const digest = hash('sha256', secret, 'buffer')
  return { lookup: digest.toString('hex', 0, 8), digest }
}
