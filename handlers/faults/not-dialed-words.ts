/** The messages for a call that was not placed, usually because the carrier refused it. */
import type { NotDialed } from '../../domain/records/not-dialed.ts'
import type { ResourceFaultData } from '../../domain/records/resource-fault.ts'
import type { Said } from './said.ts'

type Words = { message: string; hint: string }

const words: Readonly<Record<NotDialed | 'no_number', Words>> = {
  no_number: {
    message: 'The organization has no phone number to call from.',
    hint: 'Get one, and repeat the request.',
  },
  unanswered: { message: 'The carrier has not answered in time.', hint: 'Repeat the request.' },
  unavailable: { message: 'The carrier cannot take the call now.', hint: 'Repeat the request later.' },
  number_unknown: {
    message: 'The carrier knows no such number.',
    hint: 'Check the number that is called; a repeat is refused too.',
  },
  not_allowed: {
    message: 'The carrier does not allow this call.',
    hint: 'Ask the carrier whether your account may call this number from that one; a repeat is refused too.',
  },
  login_refused: {
    message: 'The carrier refuses the login of the SIP connection.',
    hint: 'Correct its username and password with PATCH /v1/phone-numbers/sip-connections/{id}.',
  },
  audio_refused: {
    message: 'The carrier takes none of the audio formats of this server.',
    hint: 'Allow G.711 (PCMU or PCMA) for the trunk.',
  },
  referral_refused: {
    message: 'The far end of the caller does not take blind transfers (REFER).',
    hint: 'Use a warm transfer, which needs no REFER.',
  },
  refused: {
    message: 'The carrier refuses the call.',
    hint: 'Check both numbers and what your account may call; a repeat is refused too.',
  },
}

export function notDialed({ why, sessionId }: Extract<ResourceFaultData, { kind: 'not_dialed' }>): Said {
  return { code: 'CARRIER_DIAL_FAILED', ...words[why], ...(sessionId !== undefined && { details: { sessionId } }) }
}
