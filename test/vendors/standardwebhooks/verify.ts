/** The library of Standard Webhooks for Node, which verifies our signatures. It is installed apart from the product. */
import { createRequire } from 'node:module'

type Webhook = { verify(payload: string | Buffer, headers: Record<string, string>): unknown }
type Library = { Webhook: new (secret: string | Uint8Array, options?: { format: 'raw' }) => Webhook }

export const missing = 'standardwebhooks is not installed: npm ci in test/vendors'

export function loadLibrary(): Library | null {
  try {
    return createRequire(import.meta.url)('standardwebhooks') as Library
  } catch {
    return null
  }
}
