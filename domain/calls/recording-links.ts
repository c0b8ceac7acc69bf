/**
 * Makes links to recordings: `/recordings/<call>.wav?expires=<unix s>&signature=<HMAC-SHA256>`. A link works without a
 * key until it expires. The signature covers the call and the time, so a link opens one recording and cannot be
 * prolonged.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../ports/system.ts'

/** Seven days, fixed in the contract. */
export const linkLifeSMax = 604_800

export type LinkState = 'good' | 'expired' | 'forged'

export type RecordingLinks = {
  /** Returns a link's path and query. `expiresS` is in seconds since the epoch. */
  sign(callId: string, expiresS: number): string
  /**
   * Checks a link's query. The calling code passes both texts unchanged from the link. If the signature is wrong, the
   * result is `forged`, even if the link has also expired.
   */
  check(callId: string, expires: string, signature: string): LinkState
}

/**
 * All processes behind one address share these keys. A link signed with a previous master key stays valid, because
 * people may use it already.
 */
export type LinkKeys = { current: string; previous: readonly string[] }

export function createRecordingLinks({ current, previous }: LinkKeys, clock: Clock): RecordingLinks {
  const signingKey = signingKeyOf(current)
  const earlier = previous.map(signingKeyOf)
  return {
    sign: (callId, expiresS) =>
      `/recordings/${callId}.wav?expires=${expiresS}&signature=${signatureOf(signingKey, callId, String(expiresS))}`,
    check(callId, expires, signature) {
      if (!/^[1-9]\d{0,11}$/.test(expires) || !/^[\w-]{43}$/.test(signature)) return 'forged'
      // Compares texts, not bytes: base64 decoding ignores the last letter's two spare bits, so an altered text would
      // pass.
      const given = Buffer.from(signature)
      const isOurs = [signingKey, ...earlier].some((key) =>
        timingSafeEqual(given, Buffer.from(signatureOf(key, callId, expires))),
      )
      if (!isOurs) return 'forged'
      return Number(expires) * 1000 <= clock.nowMs() ? 'expired' : 'good'
    },
  }
}

/**
 * Derives the signing key from the master key. Each use of the master key has a separate derived key (RFC 5869), so a
 * leaked derived key does not reveal another key.
 */
function signingKeyOf(masterKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', 'recording link v1', 32))
}

/**
 * Signs the two parts, joined by a line break. Neither part can contain a line break, so two different pairs never give
 * the same signed text.
 */
function signatureOf(key: Buffer, callId: string, expires: string): string {
  return createHmac('sha256', key).update(`${callId}\n${expires}`).digest('base64url')
}
