/** The platform API's messages for phone-number faults. */
import type { ResourceFaultData } from '../../domain/records/resource-fault.ts'
import type { Said } from './said.ts'

const kinds = [
  'number_exists',
  'sip_connection_in_use',
  'number_unavailable',
  'number_not_paid',
  'number_not_ready',
  'order_pending',
  'carrier_number_failed',
  'verification_required',
] as const
type NumberFault = Extract<ResourceFaultData, { kind: (typeof kinds)[number] }>

export function isOfNumber(data: ResourceFaultData): data is NumberFault {
  return (kinds as readonly string[]).includes(data.kind)
}

export function sayNumberFault(data: NumberFault): Said {
  switch (data.kind) {
    case 'number_exists':
      return { code: 'PHONE_NUMBER_EXISTS' }
    case 'sip_connection_in_use':
      return { code: 'SIP_CONNECTION_IN_USE' }
    case 'number_unavailable':
      return { code: 'PHONE_NUMBER_UNAVAILABLE' }
    case 'number_not_paid':
      return {
        code: 'INSUFFICIENT_CREDITS',
        message: `The phone number costs ${(data.microUsd / 1e6).toFixed(2)} US dollars now, with the first month, and the credit is lower.`,
      }
    case 'number_not_ready':
      return { code: 'PHONE_NUMBER_NOT_READY' }
    case 'order_pending':
      return {
        code: 'PHONE_NUMBER_NOT_READY',
        message: 'The carrier has not decided on the order of this number.',
        hint: 'Wait until setupStatus no longer says carrier_pending.',
      }
    case 'carrier_number_failed':
      return { code: 'CARRIER_NUMBER_FAILED' }
    case 'verification_required':
      return { code: 'BUSINESS_VERIFICATION_REQUIRED', details: { kybStatus: data.status } }
  }
}
