import type { BusinessEntityType } from '../../../generated/clients/typescript/models/platform.ts'

/** The legal forms of businesses, in words for people. */
export const entityTypes: readonly { value: BusinessEntityType; label: string }[] = [
  { value: 'PRIVATE_PROFIT', label: 'A private company' },
  { value: 'PUBLIC_PROFIT', label: 'A company on a stock exchange' },
  { value: 'NON_PROFIT', label: 'A non-profit organization' },
  { value: 'SOLE_PROPRIETOR', label: 'A sole proprietor' },
  { value: 'GOVERNMENT', label: 'A government' },
]
