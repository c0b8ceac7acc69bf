/** The states of brands and campaigns, and those of the carrier that they stand for. */
import type { RegisteredBrand, RegisteredCampaign } from '../ports/sms-registry.ts'

export type BrandStatus = 'draft' | 'pending' | 'verified' | 'failed'
export type SubmittedStatus = 'pending' | 'active' | 'rejected' | 'expired'
export type CampaignStatus = 'draft' | SubmittedStatus

/** A brand that the carrier knows keeps its status when its profile is saved. */
export const brandAfterSave: Readonly<Record<BrandStatus, BrandStatus>> = {
  draft: 'draft',
  failed: 'draft',
  pending: 'pending',
  verified: 'verified',
}

/** Whether the carrier knows a brand of this status, so that it is asked about it instead of getting a new one. */
export const isKnown: Readonly<Record<BrandStatus, boolean>> = {
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
