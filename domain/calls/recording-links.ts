/**
 * Makes links to recordings: `/recordings/<call>.wav?expires=<unix s>&signature=<HMAC-SHA256>`. A link works without a
 * key until it expires. The signature covers the call and the time, so a link opens one recording and cannot be
 * prolonged.
 */
import { createSigner } from '../access/signer.ts'
import type { Clock } from '../ports/system.ts'

/** Seven days, fixed in the contract. */
export const linkLifeSMax = 604_800

export type LinkState = 'good' | 'expired' | 'forged'

export type RecordingLinks = {
  /** Returns a link's path and query. `expiresS` is in seconds since the epoch. */
  sign(callId: string, expiresS: number): string
  /**
   * Checks a link's query. The calling code passes both values exactly as they are in the link. If the signature is
   * wrong, the result is `forged`, even if the link has also expired.
   */
  check(callId: string, expires: string, signature: string): LinkState
}

/**
 * All processes of a deployment share these keys. A link signed with a previous master key stays valid, because people
 * may already have the link.
 */
export type LinkKeys = { current: string; previous: readonly string[] }

export function createRecordingLinks({ current, previous }: LinkKeys, clock: Clock): RecordingLinks {
  const signerOf = (masterKey: string) => createSigner(masterKey, 'recording link v1')
  const newest = signerOf(current)
  const signers = [newest, ...previous.map(signerOf)]
  return {
    sign: (callId, expiresS) =>
      `/recordings/${callId}.wav?expires=${expiresS}&signature=${newest.sign(signedText(callId, String(expiresS)))}`,
    check(callId, expires, signature) {
      if (!/^[1-9]\d{0,11}$/.test(expires) || !/^[\w-]{43}$/.test(signature)) return 'forged'
      const isOurs = signers.some((signer) => signer.isSignature(signedText(callId, expires), signature))
      if (!isOurs) return 'forged'
      return Number(expires) * 1000 <= clock.nowMs() ? 'expired' : 'good'
    },
  }
}

/**
 * Joins the two parts by a line break. Neither part can contain a line break, so two different pairs never give the
 * same text.
 */
const signedText = (callId: string, expires: string) => `${callId}\n${expires}`
