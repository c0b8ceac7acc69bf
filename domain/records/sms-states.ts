/** Maps the carrier's statuses to our brand and campaign statuses. */
import type { RegisteredBrand, RegisteredCampaign } from '../ports/sms-registry.ts'

export type BrandStatus = 'draft' | 'pending' | 'verified' | 'failed'
export type SubmittedStatus = 'pending' | 'active' | 'rejected' | 'expired'
export type CampaignStatus = 'draft' | SubmittedStatus

/** The brand's status after its profile is saved. If the brand exists at the carrier, the status does not change. */
export const brandAfterSave: Readonly<Record<BrandStatus, BrandStatus>> = {
  draft: 'draft',
  failed: 'draft',
  pending: 'pending',
  verified: 'verified',
}

/**
 * True if brands in this status exist at the carrier. The carrier is then asked for the brand's state, and no new brand
 * is registered.
 */
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
