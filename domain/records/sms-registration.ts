/**
 * An organization's stored registration for text messages in the USA (10DLC). Live and test keys have separate
 * registrations.
 */
import type { BrandProfile, CampaignProfile, IdentityStatus, ReviewError, SmsRegistry } from '../ports/sms-registry.ts'
import type { Tenant } from './organization.ts'
import type { BrandStatus, CampaignStatus, SubmittedStatus } from './sms-states.ts'

/** The business behind the messages. */
export type Brand = {
  profile: BrandProfile
  status: BrandStatus
  identityStatus: IdentityStatus | null
  reviewErrors: readonly ReviewError[]
  submittedAtMs: number | null
  /** Null if the carrier does not know the brand. */
  carrierId: string | null
  /** True if the carrier has an older profile. */
  isChanged: boolean
  /** Null if no carrier answer is outstanding. */
  intent: BrandIntent | null
}

/** A requested brand registration. It stays until its result is known. */
export type BrandIntent = { profile: BrandProfile; askedAtMs: number }

/** A campaign at the carrier. */
export type SubmittedCampaign = {
  id: string
  status: SubmittedStatus
  reviewErrors: readonly ReviewError[]
  submittedAtMs: number
}

/** A requested campaign. It stays until its result is known. */
export type CampaignIntent = {
  /** The carrier stores this reference, so the campaign can be found if the carrier's answer was lost. */
  reference: string
  brandId: string
  profile: CampaignProfile
}

export type Registration = {
  brand: Brand | null
  /** The draft, with the carrier's reasons for refusing it. */
  campaign: { profile: CampaignProfile; reviewErrors: readonly ReviewError[]; intent: CampaignIntent | null } | null
  /** Newest first. */
  submitted: readonly SubmittedCampaign[]
}

/** The operator's campaign, open to all organizations' numbers. */
export type SharedCampaign = { label: string; campaignId: string; status: SubmittedStatus }

/** Every method but `ownedBrands` reads and writes one tenant's rows. */
export interface SmsRegistrationStore {
  /** Empty if the tenant has saved nothing. */
  find(tenant: Tenant): Promise<Registration>
  /** The registration is locked between its reading and its writing. Submitted campaigns are never removed. */
  change(tenant: Tenant, change: (registration: Registration) => Registration): Promise<Registration>
  /** False if another process or request has an unexpired claim. */
  claim(tenant: Tenant, untilMs: number): Promise<boolean>
  release(tenant: Tenant): Promise<void>
  /** Filters carrier ids: keeps the brands of any organization here. */
  ownedBrands(carrierIds: readonly string[]): Promise<ReadonlySet<string>>
}

export interface SharedCampaignStore {
  find(): Promise<SharedCampaign | null>
  /** Null removes the campaign. */
  set(campaign: SharedCampaign | null): Promise<void>
}

export interface SmsRegistries {
  of(tenant: Pick<Tenant, 'test'>): SmsRegistry
}

/** The newest campaign, or the first campaign's draft. */
export type OwnCampaign = {
  status: CampaignStatus
  campaignId: string | null
  profile: CampaignProfile
  reviewErrors: readonly ReviewError[]
  submittedAtMs: number | null
}

export function ownCampaignOf({ campaign, submitted }: Registration): OwnCampaign | null {
  if (campaign === null) return null
  const { profile } = campaign
  const [newest] = submitted
  const status = newest?.status ?? 'draft'
  const reviewErrors = campaign.reviewErrors.length > 0 ? campaign.reviewErrors : (newest?.reviewErrors ?? [])
  return { status, campaignId: newest?.id ?? null, profile, reviewErrors, submittedAtMs: newest?.submittedAtMs ?? null }
}

/** The campaign for number assignments: the newest approved campaign. */
export function activeCampaignOf({ submitted }: Registration): SubmittedCampaign | null {
  return submitted.find(({ status }) => status === 'active') ?? null
}
