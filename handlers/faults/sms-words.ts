/** The platform API's messages for faults about text-message registrations. */
import type { Problem, ResourceFaultData } from '../../domain/records/resource-fault.ts'
import type { Said } from './said.ts'

const codes = {
  sms_off: 'SMS_10DLC_DISABLED_FOR_ORG',
  sms_profile_missing: 'PROFILE_REQUIRED',
  sms_brand_missing: 'BRAND_REQUIRED',
  sms_brand_not_ready: 'BRAND_NOT_READY',
  sms_own_campaign_not_ready: 'OWN_CAMPAIGN_NOT_READY',
  sms_shared_campaign_unavailable: 'SHARED_CAMPAIGN_UNAVAILABLE',
  sms_campaign_missing: 'NO_ELIGIBLE_CAMPAIGN',
  sms_number_unsupported: 'SMS_ASSIGNMENT_UNSUPPORTED_NUMBER',
  sms_number_not_found: 'PHONE_NUMBER_NOT_FOUND',
  sms_under_way: 'SERVICE_UNAVAILABLE',
} as const
type SmsFault = Extract<ResourceFaultData, { kind: keyof typeof codes | 'sms_carrier_failed' }>

const codesOfCarrier = {
  brand: 'CARRIER_BRAND_SUBMIT_FAILED',
  campaign: 'CARRIER_CAMPAIGN_SUBMIT_FAILED',
  vetting: 'CARRIER_VETTING_FAILED',
  number: 'CARRIER_NUMBER_ASSIGNMENT_FAILED',
} as const

export function isOfSms(data: ResourceFaultData): data is SmsFault {
  return data.kind === 'sms_carrier_failed' || Object.hasOwn(codes, data.kind)
}

export function saySmsFault(data: SmsFault): Said {
  if (data.kind === 'sms_carrier_failed') return { code: codesOfCarrier[data.of] }
  const code = codes[data.kind]
  if (data.kind === 'sms_profile_missing') return { code, message: `The ${data.of} was not saved.` }
  if (data.kind === 'sms_number_not_found')
    return { code, message: 'There is no such phone number.', hint: 'GET /v1/phone-numbers lists the numbers.' }
  if (data.kind !== 'sms_under_way') return { code }
  const message = 'Another step of this registration is under way.'
  return { code, message, hint: 'Repeat the request when it has ended.' }
}

/**
 * Error messages about a brand's field. Each message follows the field's name, so that name and message form one
 * sentence.
 */
export const brandComplaints = {
  tax_number_missing: 'is required, unless entityType is SOLE_PROPRIETOR',
  tax_number_malformed: 'is no tax number of the United States; it has nine digits, such as 12-3456789',
} as const satisfies Partial<Record<Problem['kind'], string>>

export type BrandProblem = Extract<Problem, { kind: keyof typeof brandComplaints }>

export function isOfBrand(problem: Problem): problem is BrandProblem {
  return Object.hasOwn(brandComplaints, problem.kind)
}
