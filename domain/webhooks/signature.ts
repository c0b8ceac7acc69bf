/** Signs what is sent to addresses of organizations: Standard Webhooks 1.0 (standardwebhooks.com), symmetric. */
import { createHmac } from 'node:crypto'

const prefix = 'whsec_'
const keyBytes = { min: 24, max: 64 }

/** The headers that prove who sent the body. Without a secret they name the message and sign nothing. */
export function webhookHeaders(
  { id, nowMs, body }: { id: string; nowMs: number; body: string },
  secret: string | null,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000))
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp }
  if (secret === null) return headers
  const hash = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${hash}` }
}

/** A secret in the form of the standard is base64. Any other text is the key as it stands. */
function keyOf(secret: string): Buffer {
  if (secret.startsWith(prefix)) {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    if (key.length >= keyBytes.min && key.length <= keyBytes.max) return key
  }
  return Buffer.from(secret)
}
