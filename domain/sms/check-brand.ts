import type { BrandProfile } from '../ports/sms-registry.ts'
import type { Issue } from '../records/resource-fault.ts'

const usTaxNumber = /^\d{2}-?\d{7}$/

/** Checks the rules about several fields of a brand. */
export function issuesOfBrand(profile: BrandProfile, isPhoneNumber: (text: string) => boolean): Issue[] {
  const { ein, entityType, country, supportPhone, authorizedContact } = profile
  const isMissing = ein === null && entityType !== 'SOLE_PROPRIETOR'
  const isMalformed = ein !== null && country === 'US' && !usTaxNumber.test(ein)
  return [
    ...(isMissing ? [{ path: ['ein'], problem: { kind: 'tax_number_missing' as const } }] : []),
    ...(isMalformed ? [{ path: ['ein'], problem: { kind: 'tax_number_malformed' as const } }] : []),
    ...(isPhoneNumber(supportPhone) ? [] : [{ path: ['supportPhone'], problem: notNumber }]),
    ...(isPhoneNumber(authorizedContact.phone) ? [] : [{ path: ['authorizedContact', 'phone'], problem: notNumber }]),
  ]
}

const notNumber = { kind: 'number_invalid' as const }
