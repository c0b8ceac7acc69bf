/** Maps the carrier's states to our brand and campaign states. */
import type { RegisteredBrand, RegisteredCampaign } from '../ports/sms-registry.ts'

export type BrandStatus = 'draft' | 'pending' | 'verified' | 'failed'
export type SubmittedStatus = 'pending' | 'active' | 'rejected' | 'expired'
export type CampaignStatus = 'draft' | SubmittedStatus

/** If the carrier knows the brand, its status stays when its profile is saved. */
export const brandAfterSave: Readonly<Record<BrandStatus, BrandStatus>> = {
  draft: 'draft',
  failed: 'draft',
  pending: 'pending',
  verified: 'verified',
}

/** True if the carrier knows a brand in this status. Its state is then queried instead of registering a new brand. */
export const existsAtCarrier: Readonly<Record<BrandStatus, boolean>> = {
  draft: false,
  failed: false,
  pending: true,
  verified: true,
}

export function brandStatusOf({ status, identityStatus }: RegisteredBrand): BrandStatus {
  if (status === 'REGISTRATION_FAILED') return 'failed'
  const isVerified = identityStatus === 'VERIFIED' || identityStatus === 'VETTED_VERIFIED'
  return status === 'OK' && isVerified ? 'verified' : 'pending'
}

export function campaignStatusOf({ status }: Pick<RegisteredCampaign, 'status'>): SubmittedStatus {
  if (status === 'MNO_PROVISIONED') return 'active'
  if (status === 'TCR_EXPIRED') return 'expired'
  return /_(FAILED|REJECTED)$/.test(status) || status === 'TCR_SUSPENDED' ? 'rejected' : 'pending'
}
