/**
 * Checks webhook signatures from Telnyx and the simulator: Ed25519 over `<timestamp>|<body>`. A timestamp more than 300
 * s from now is refused, so a captured event cannot be replayed later.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Clock } from '../../domain/ports/system.ts'
import { isObject, type JsonObject } from './json.ts'

const windowS = 300
/** The DER prefix before an Ed25519 public key's 32 bytes (RFC 8410). */
const keyHead = Buffer.from('302a300506032b6570032100', 'hex')

export type SignedBodies = {
  /**
   * Checks the signature and returns the JSON object in the body. Header names are in lower case. Returns `forged` if
   * the signature or the timestamp is wrong, and `other` if the body is not a JSON object.
   */
  read(headers: Readonly<Record<string, unknown>>, body: Uint8Array): JsonObject | 'forged' | 'other'
}

/** `publicKey` is 32 bytes in base64. */
export function createSignedBodies({ publicKey, clock }: { publicKey: string; clock: Clock }): SignedBodies {
  const der = Buffer.concat([keyHead, Buffer.from(publicKey, 'base64')])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return {
    read(headers, body) {
      const { 'telnyx-signature-ed25519': signature, 'telnyx-timestamp': timestamp } = headers
      if (typeof signature !== 'string' || typeof timestamp !== 'string') return 'forged'
      if (!isNow(timestamp, clock.nowMs()) || !isSigned(key, signature, timestamp, body)) return 'forged'
      const event: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
      return isObject(event) ? event : 'other'
    },
  }
}

function isNow(timestamp: string, nowMs: number): boolean {
  return /^\d{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) - nowMs / 1000) <= windowS
}

/** A signature: 64 bytes in base64, and nothing after them, because the decoder would ignore the rest. */
const signatureForm = /^[A-Za-z0-9+/]{86}==$/

function isSigned(key: KeyObject, signature: string, timestamp: string, body: Uint8Array): boolean {
  if (!signatureForm.test(signature)) return false
  const signed = Buffer.concat([Buffer.from(`${timestamp}|`), body])
  return verify(null, signed, key, Buffer.from(signature, 'base64'))
}
