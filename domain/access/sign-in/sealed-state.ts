/** Seals the state of a sign-in with a provider for a cookie: AES-256-GCM with a key derived from the master key. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { OidcChecks } from '../../ports/oidc.ts'

export type OidcState = OidcChecks & { provider: string; returnTo: string; expiresMs: number }

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

export type StateSeal = {
  seal(state: OidcState): string
  /** Returns null if this server has not sealed the text. */
  open(text: string): OidcState | null
}

export function createStateSeal(masterKey: string): StateSeal {
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', 'console oidc state v1', 32))
  return {
    seal(state) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv(algorithm, key, iv)
      const sealed = Buffer.concat([cipher.update(JSON.stringify(state)), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    open(text) {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length <= ivBytes + tagBytes) return null
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes))
        decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
        const opened = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
        return JSON.parse(opened.toString()) as OidcState
      } catch {
        return null
      }
    },
  }
}
