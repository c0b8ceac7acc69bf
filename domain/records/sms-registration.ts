/** The registration of an organization for text messages in the USA (10DLC), as it is stored. Live and test keys have separate ones. */
import type { BrandProfile, CampaignProfile, IdentityStatus, ReviewError, SmsRegistry } from '../ports/sms-registry.ts'
import type { Tenant } from './organization.ts'
import type { BrandStatus, CampaignStatus, SubmittedStatus } from './sms-states.ts'

/** The business that sends. */
export type Brand = {
  profile: BrandProfile
  status: BrandStatus
  identityStatus: IdentityStatus | null
  reviewErrors: readonly ReviewError[]
  submittedAtMs: number | null
  /** Null: the carrier does not know it. */
  carrierId: string | null
  /** The carrier has another profile of it. */
  isChanged: boolean
  /** Null: no answer of the carrier is missing. */
  intent: BrandIntent | null
}

/** A brand that the carrier was asked to register. It stays until we know what became of it. */
export type BrandIntent = { profile: BrandProfile; askedAtMs: number }

/** A campaign at the carrier. */
export type SubmittedCampaign = {
  id: string
  status: SubmittedStatus
  reviewErrors: readonly ReviewError[]
  submittedAtMs: number
}

/** A campaign that the carrier was asked to make. It stays until we know what became of it. */
export type CampaignIntent = {
  /** The carrier keeps it, so that the campaign can be found where its answer was lost. */
  reference: string
  brandId: string
  profile: CampaignProfile
}

export type Registration = {
  brand: Brand | null
  /** The draft, and why the carrier refused it. */
  campaign: { profile: CampaignProfile; reviewErrors: readonly ReviewError[]; intent: CampaignIntent | null } | null
  /** Newest first. */
  submitted: readonly SubmittedCampaign[]
}

/** A campaign of the operator, which the numbers of all organizations may use. */
export type SharedCampaign = { label: string; campaignId: string; status: SubmittedStatus }

/** Every call reads and writes rows of this tenant alone. */
export interface SmsRegistrationStore {
  /** It is empty where the tenant has saved nothing. */
  find(tenant: Tenant): Promise<Registration>
  /** Nobody else changes it between its reading and its writing. Campaigns that were submitted are never removed. */
  change(tenant: Tenant, change: (registration: Registration) => Registration): Promise<Registration>
  /** False: another process or request has claimed it, and the time of that has not run out. */
  claim(tenant: Tenant, untilMs: number): Promise<boolean>
  release(tenant: Tenant): Promise<void>
  /** Those of these ids at the carrier that are brands of any organization. */
  ownedBrands(carrierIds: readonly string[]): Promise<ReadonlySet<string>>
}

export interface SharedCampaignStore {
  find(): Promise<SharedCampaign | null>
  /** Null removes it. */
  set(campaign: SharedCampaign | null): Promise<void>
}

export interface SmsRegistries {
  of(tenant: Pick<Tenant, 'test'>): SmsRegistry
}

/** The newest campaign, or the draft of the first one. */
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

/** The campaign that numbers are assigned to: the newest that is approved. */
export function activeCampaignOf({ submitted }: Registration): SubmittedCampaign | null {
  return submitted.find(({ status }) => status === 'active') ?? null
}
