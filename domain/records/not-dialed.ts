/** The reasons why a phone line did not dial, as shown to the API client. */
import { PhoneLineError } from '../ports/phone-line.ts'

export type NotDialed =
  /** It is unknown whether the phone line has dialled. */
  | 'unanswered'
  /** The phone line does not answer or is full, so a repeat may help. */
  | 'unavailable'
  | 'number_unknown'
  | 'not_allowed'
  | 'login_refused'
  | 'audio_refused'
  /** The caller's SIP endpoint does not accept REFER requests, so the blind transfer is not possible. */
  | 'referral_refused'
  | 'refused'

const byCode: Readonly<Record<number, NotDialed>> = {
  401: 'login_refused',
  407: 'login_refused',
  403: 'not_allowed',
  603: 'not_allowed',
  404: 'number_unknown',
  484: 'number_unknown',
  604: 'number_unknown',
  415: 'audio_refused',
  488: 'audio_refused',
  606: 'audio_refused',
  408: 'unanswered',
  480: 'unavailable',
  486: 'unavailable',
  600: 'unavailable',
}

/** `isReferral` is true if the caller's SIP endpoint was asked to make the call (a blind transfer by REFER). */
export function whyNotDialed(error: unknown, isReferral: boolean): NotDialed {
  if (!(error instanceof PhoneLineError)) return 'unavailable'
  const why = ofLine(error)
  const isOfFarEnd = error.sipCode !== null && (why === 'refused' || why === 'not_allowed')
  return isReferral && isOfFarEnd ? 'referral_refused' : why
}

function ofLine({ kind, sipCode }: PhoneLineError): NotDialed {
  if (kind !== 'refused') return kind === 'timeout' ? 'unanswered' : 'unavailable'
  if (sipCode === null) return 'refused'
  // Status 501 is excluded: the phone line does not support the method, so a repeat cannot help.
  return byCode[sipCode] ?? (sipCode >= 500 && sipCode < 600 && sipCode !== 501 ? 'unavailable' : 'refused')
}
