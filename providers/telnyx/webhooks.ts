/**
 * Events of Telnyx. The signature is Ed25519 over `<timestamp>|<body>`; a timestamp that is not within 300 s of now is
 * refused, so that an event which was overheard cannot be sent again later.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { CarrierWebhooks } from '../../domain/ports/carrier-webhooks.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { isObject } from '../wire/json.ts'
import { legEventOf } from './leg-events.ts'

const windowS = 300
/** The DER head of an Ed25519 key (RFC 8410), before its 32 bytes. */
const keyHead = Buffer.from('302a300506032b6570032100', 'hex')

/** `publicKey` is 32 bytes in base64. */
export function createTelnyxWebhooks({ publicKey, clock }: { publicKey: string; clock: Clock }): CarrierWebhooks {
  const der = Buffer.concat([keyHead, Buffer.from(publicKey, 'base64')])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return {
    read(headers, body) {
      const { 'telnyx-signature-ed25519': signature, 'telnyx-timestamp': timestamp } = headers
      if (typeof signature !== 'string' || typeof timestamp !== 'string') return 'forged'
      if (!isNow(timestamp, clock.nowMs()) || !isSigned(key, signature, timestamp, body)) return 'forged'
      const event: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
      return (isObject(event) && isObject(event['data']) && legEventOf(event['data'])) || 'other'
    },
  }
}

function isNow(timestamp: string, nowMs: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) - nowMs / 1000) <= windowS
}

function isSigned(key: KeyObject, signature: string, timestamp: string, body: Uint8Array): boolean {
  const bytes = Buffer.from(signature, 'base64')
  return bytes.length === 64 && verify(null, Buffer.concat([Buffer.from(`${timestamp}|`), body]), key, bytes)
}
