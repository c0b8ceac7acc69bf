/**
 * If the carrier did not accept a call, the error says why and what the client can do. It asks for a repeated request
 * only if that can help.
 */
import t from 'tap'
import { PhoneLineError, type PhoneLineFailure } from '../../domain/ports/phone-line.ts'
import { type NotDialed, whyNotDialed } from '../../domain/records/not-dialed.ts'
import { notDialed } from '../../handlers/faults/not-dialed-words.ts'

const mayRepeat: readonly NotDialed[] = ['unanswered', 'unavailable']
const ofRefusal: Readonly<Record<number, NotDialed>> = {
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
  400: 'refused',
  405: 'refused',
  420: 'refused',
  500: 'unavailable',
  501: 'refused',
  503: 'unavailable',
  599: 'unavailable',
  607: 'refused',
}

const why = (kind: PhoneLineFailure, sipCode: number | null = null, isReferral = false) =>
  whyNotDialed(new PhoneLineError(kind, { sipCode }), isReferral)

t.test('each refusal by the carrier or the trunk has its failure reason', (t) => {
  for (const [code, expected] of Object.entries(ofRefusal)) t.equal(why('refused', Number(code)), expected, code)
  t.equal(why('refused'), 'refused', 'an API of a carrier names no code of SIP')
  t.equal(why('unreachable'), 'unavailable')
  t.equal(why('timeout'), 'unanswered')
  t.equal(whyNotDialed(new Error('a statement has failed'), false), 'unavailable')
  t.end()
})

t.test('if the remote party refuses REFER, the reason is referral_refused, or follows from the SIP code', (t) => {
  for (const code of [403, 405, 420, 501, 603]) t.equal(why('refused', code, true), 'referral_refused', String(code))
  t.equal(why('refused', 404, true), 'number_unknown')
  t.equal(why('refused', 407, true), 'login_refused')
  t.equal(why('refused', 503, true), 'unavailable')
  t.equal(why('timeout', null, true), 'unanswered')
  t.equal(why('refused', null, true), 'refused', 'the caller has left')
  t.end()
})

t.test('the hint asks for a repeated request only if the carrier is unreachable or does not answer', (t) => {
  for (const reason of new Set([...Object.values(ofRefusal), 'referral_refused' as const])) {
    const { code, message = '', hint = '' } = notDialed({ kind: 'not_dialed', why: reason })
    t.equal(code, 'CARRIER_DIAL_FAILED')
    t.equal(hint.startsWith('Repeat the request'), mayRepeat.includes(reason), `${message} ${hint}`)
  }
  t.end()
})
