/**
 * Links to recordings that work without a key until they expire: `/recordings/<call>.wav?expires=<unix s>&signature=<HMAC-SHA256>`.
 * The signature covers the call and the time, so a link opens one recording and cannot be prolonged.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../ports/system.ts'

/** Part of the contract: seven days. */
export const linkLifeSMax = 604_800

export type LinkState = 'good' | 'expired' | 'forged'

export type RecordingLinks = {
  /** The path and the query of a link, good until `expiresS`, in seconds since the epoch. */
  sign(callId: string, expiresS: number): string
  /** Takes both as they came. A forged link is never called expired. */
  check(callId: string, expires: string, signature: string): LinkState
}

/**
 * The same keys in all processes that serve one address. Links that were signed with a previous master key stay good,
 * because they were sent to others.
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
      // Texts are compared: the last letter has two bits that decoding would drop.
      const given = Buffer.from(signature)
      const isOurs = [signingKey, ...earlier].some((key) =>
        timingSafeEqual(given, Buffer.from(signatureOf(key, callId, expires))),
      )
      if (!isOurs) return 'forged'
      return Number(expires) * 1000 <= clock.nowMs() ? 'expired' : 'good'
    },
  }
}

/** Each use of the master key has a separate key (RFC 5869), so that a leak of one says nothing about another. */
function signingKeyOf(masterKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', 'recording link v1', 32))
}

/** Neither part can have a line break in it, so two different pairs are never signed as one text. */
function signatureOf(key: Buffer, callId: string, expires: string): string {
  return createHmac('sha256', key).update(`${callId}\n${expires}`).digest('base64url')
}
