/** Signs requests to organizations' URLs: Standard Webhooks 1.0 (standardwebhooks.com), symmetric. */
import { createHmac } from 'node:crypto'

const prefix = 'whsec_'
const keyBytes = { min: 24, max: 64 }

/**
 * Makes the headers that prove the sender of these bytes. They contain a signature by each secret, and a receiver
 * accepts the message if one signature is valid. So a receiver can change to a new secret while both secrets are in
 * use.
 */
export function webhookHeaders(
  { id, nowMs, body }: { id: string; nowMs: number; body: string | Uint8Array },
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000))
  const signatures = secrets.map((secret) => {
    const hash = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64')
    return `v1,${hash}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

/**
 * Returns the key's bytes. A secret in the standard's form is decoded from base64. Any other text is used unchanged.
 */
function keyOf(secret: string): Buffer {
  if (secret.startsWith(prefix)) {
    const text = secret.slice(prefix.length)
    const key = Buffer.from(text, 'base64')
    if (key.length >= keyBytes.min && key.length <= keyBytes.max && isBase64Of(key, text)) return key
  }
  return Buffer.from(secret)
}

/**
 * Returns true if the text is valid base64. Node decodes any text and skips other characters, so the key is encoded
 * again and compared.
 */
function isBase64Of(key: Buffer, text: string): boolean {
  return key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')
}
