/**
 * An organization's stored registration for text messages in the USA (10DLC). Live and test keys have separate
 * registrations.
 */
import type { BrandProfile, CampaignProfile, IdentityStatus, ReviewError, SmsRegistry } from '../ports/sms-registry.ts'
import type { Tenant } from './organization.ts'
import type { BrandStatus, CampaignStatus, SubmittedStatus } from './sms-states.ts'

/** The business that sends the messages. */
export type Brand = {
  profile: BrandProfile
  status: BrandStatus
  identityStatus: IdentityStatus | null
  reviewErrors: readonly ReviewError[]
  submittedAtMs: number | null
  /** The brand's id at the carrier. Null if the brand is not registered at the carrier. */
  carrierId: string | null
  /** True if the profile has changed since the carrier received it. */
  isChanged: boolean
  /** A registration whose result is not known yet. Null if no result is awaited. */
  intent: BrandIntent | null
}

/** A brand registration sent to the carrier. It is stored until its result is known. */
export type BrandIntent = { profile: BrandProfile; askedAtMs: number }

/** A campaign registered at the carrier. */
export type SubmittedCampaign = {
  id: string
  status: SubmittedStatus
  reviewErrors: readonly ReviewError[]
  submittedAtMs: number
}

/** A campaign sent to the carrier. It is stored until its result is known. */
export type CampaignIntent = {
  /** The carrier stores this reference, so the campaign can be found if the carrier's answer was lost. */
  reference: string
  brandId: string
  profile: CampaignProfile
}

export type Registration = {
  brand: Brand | null
  /** The draft campaign. `reviewErrors` are the carrier's reasons for refusing it. */
  campaign: { profile: CampaignProfile; reviewErrors: readonly ReviewError[]; intent: CampaignIntent | null } | null
  /** The submitted campaigns, newest first. */
  submitted: readonly SubmittedCampaign[]
}

/** The operator's campaign. Every organization may assign its numbers to it. */
export type SharedCampaign = { label: string; campaignId: string; status: SubmittedStatus }

/** Every method except `ownedBrands` reads and writes one tenant's rows. */
export interface SmsRegistrationStore {
  /** Resolves with an empty registration if the tenant has saved nothing. */
  find(tenant: Tenant): Promise<Registration>
  /**
   * Reads the registration, calls `change` and writes the result, while the row is locked. Submitted campaigns are
   * never removed.
   */
  change(tenant: Tenant, change: (registration: Registration) => Registration): Promise<Registration>
  /**
   * Claims the registration until `untilMs`. Resolves with false if another process or request has an unexpired claim.
   */
  claim(tenant: Tenant, untilMs: number): Promise<boolean>
  release(tenant: Tenant): Promise<void>
  /** Returns the ids in `carrierIds` that belong to any organization's brand on this server. */
  ownedBrands(carrierIds: readonly string[]): Promise<ReadonlySet<string>>
}

export interface SharedCampaignStore {
  find(): Promise<SharedCampaign | null>
  /** Stores the shared campaign. Null removes it. */
  set(campaign: SharedCampaign | null): Promise<void>
}

export interface SmsRegistries {
  of(tenant: Pick<Tenant, 'test'>): SmsRegistry
}

/** The newest submitted campaign, or the draft if there was no submission. */
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

/** Returns the newest approved campaign: numbers are assigned to it. */
export function activeCampaignOf({ submitted }: Registration): SubmittedCampaign | null {
  return submitted.find(({ status }) => status === 'active') ?? null
}
