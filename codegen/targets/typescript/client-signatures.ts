/**
 * Checks a webhook's signature: Standard Webhooks 1.0, symmetric. It needs only WebCrypto, so it runs in Node, in
 * browsers and on edge servers.
 */

import { ParleyError } from './client-api-error.ts'

/** A webhook as it arrived. The signature covers the body's exact bytes, so check it before you parse the body. */
export type SignedRequest = {
  body: string | Uint8Array
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

export type VerifyOptions = {
  /** The maximum difference between the webhook's time and the current time, in milliseconds. 300,000 by default. */
  toleranceMs?: number
  /** The current time, in milliseconds since 1970. The default is the machine's clock. */
  nowMs?: number
}

/** The webhook does not come from the server that has the secret, or it was sent too long ago. */
export class WebhookVerificationError extends ParleyError {
  readonly reason: 'header' | 'timestamp' | 'signature' | 'body'

  constructor(reason: 'header' | 'timestamp' | 'signature' | 'body', message: string) {
    super(message)
    this.name = 'WebhookVerificationError'
    this.reason = reason
  }
}

const toleranceMsDefault = 300_000
/** While the server replaces a secret, a webhook has two signatures. */
const signaturesMax = 8
/**
 * The contract's minimum. Otherwise an empty secret, for example from an unset variable, would accept anybody's
 * signature.
 */
const secretCharsMin = 8

/**
 * Throws WebhookVerificationError unless one signature fits one secret and the webhook is recent. Throws TypeError if a
 * secret is missing or too short.
 */
export async function verifySignature(
  { body, headers }: SignedRequest,
  secrets: string | readonly string[],
  { toleranceMs = toleranceMsDefault, nowMs = Date.now() }: VerifyOptions = {},
): Promise<void> {
  const known = [secrets].flat()
  if (known.length === 0 || known.some((secret) => [...secret].length < secretCharsMin))
    throw new TypeError(`A webhook's secret has at least ${secretCharsMin} characters.`)
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => header(headers, `webhook-${name}`))
  if (!id || !timestamp || !signatures) throw new WebhookVerificationError('header', 'A webhook header is missing.')
  if (!/^[0-9]{1,12}$/.test(timestamp) || Math.abs(nowMs - Number(timestamp) * 1000) > toleranceMs)
    throw new WebhookVerificationError('timestamp', 'The webhook is too old, or from the future.')
  const message = join(new TextEncoder().encode(`${id}.${timestamp}.`), bytesOf(body))
  for (const secret of known)
    for (const signature of signatures.split(' ').slice(0, signaturesMax))
      if (await isSignedBy(secret, signature, message)) return
  throw new WebhookVerificationError('signature', 'No signature fits the secret.')
}

/** Returns the JSON object in the body of a webhook. */
export function readBody({ body }: SignedRequest): object {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // The error below reports this failure.
  }
  throw new WebhookVerificationError('body', 'The body is no JSON object.')
}

function header(headers: SignedRequest['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const key = Object.keys(headers).find((each) => each.toLowerCase() === name)
  const value = key === undefined ? undefined : headers[key]
  return typeof value === 'string' ? value : value?.[0]
}

/** WebCrypto compares in constant time. */
async function isSignedBy(secret: string, signature: string, message: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const expected = signature.startsWith('v1,') ? fromBase64(signature.slice('v1,'.length)) : null
  if (expected === null) return false
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', keyOf(secret), algorithm, false, ['verify'])
  return crypto.subtle.verify('HMAC', key, expected, message)
}

const keyBytes = { min: 24, max: 64 }

/** A secret in the standard's form is decoded from base64. Any other text is used unchanged. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith('whsec_') ? fromBase64(secret.slice('whsec_'.length)) : null
  const isStandard = key !== null && key.length >= keyBytes.min && key.length <= keyBytes.max
  return isStandard ? key : new TextEncoder().encode(secret)
}

/** `atob` alone would accept spaces and truncated text. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

const bytesOf = (body: string | Uint8Array) => (typeof body === 'string' ? new TextEncoder().encode(body) : body)

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}
