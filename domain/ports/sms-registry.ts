/**
 * The registration of businesses that send text messages from ten-digit numbers of the USA (10DLC). A carrier passes it on
 * to the registry: a business (brand) describes what it sends (campaign), and each of its numbers belongs to one campaign.
 * The statuses are the carrier's.
 */

export type BrandProfile = {
  legalName: string
  displayName: string
  entityType: 'PRIVATE_PROFIT' | 'PUBLIC_PROFIT' | 'NON_PROFIT' | 'GOVERNMENT' | 'SOLE_PROPRIETOR'
  vertical: string
  /** The tax number. Null: a sole proprietor without one. */
  ein: string | null
  website: string
  /** Two letters (ISO 3166-1). */
  country: string
  street: string
  city: string
  state: string
  postalCode: string
  supportEmail: string
  /** E.164. */
  supportPhone: string
  authorizedContact: { firstName: string; lastName: string; email: string; phone: string }
}

export type CampaignProfile = {
  useCase: string
  description: string
  messageFlow: string
  /** One to five. */
  sampleMessages: readonly string[]
  /** Lists of keywords are separated by commas. */
  optInKeywords: string
  /** Null: subscribers get no message. */
  optInMessage: string | null
  helpKeywords: string
  helpMessage: string
  optOutKeywords: string
  optOutMessage: string
  embeddedLink: boolean
  embeddedPhone: boolean
}

export type IdentityStatus = 'VERIFIED' | 'UNVERIFIED' | 'SELF_DECLARED' | 'VETTED_VERIFIED'
export type AssignmentStatus =
  | 'PENDING_ASSIGNMENT'
  | 'ASSIGNED'
  | 'FAILED_ASSIGNMENT'
  | 'PENDING_UNASSIGNMENT'
  | 'FAILED_UNASSIGNMENT'
export type VettingClass = 'STANDARD' | 'ENHANCED' | 'POLITICAL'

/** `field` names a field of the profile. Null: it is about no single field. */
export type ReviewError = { field: string | null; message: string }

export type RegisteredBrand = {
  id: string
  status: 'OK' | 'REGISTRATION_PENDING' | 'REGISTRATION_FAILED'
  identityStatus: IdentityStatus | null
  reviewErrors: readonly ReviewError[]
}

export type RegisteredCampaign = {
  id: string
  /** Such as `MNO_PROVISIONED`: the carriers deliver its messages. */
  status: string
  reviewErrors: readonly ReviewError[]
}

export type NumberAssignment = {
  campaignId: string
  status: AssignmentStatus
  /** Why the assignment, or its end, has failed. */
  reviewErrors: readonly ReviewError[]
}

/** Every method throws SmsRegistryError. */
export interface SmsRegistry {
  createBrand(profile: BrandProfile): Promise<RegisteredBrand>
  updateBrand(brandId: string, profile: BrandProfile): Promise<RegisteredBrand>
  findBrand(brandId: string): Promise<RegisteredBrand>
  /** Brands of the account with the names and the tax number of the profile that were made since then, newest first. */
  findBrandsLike(profile: BrandProfile, sinceMs: number): Promise<RegisteredBrand[]>
  /** Asks a company to look into the brand, for a fee. `provider` is its id, at most 10 characters. */
  orderVetting(brandId: string, provider: string, vettingClass: VettingClass): Promise<void>
  /** The newest vetting of that class. Null: none was ordered. Carriers do not say that one has failed. */
  findVetting(brandId: string, vettingClass: VettingClass): Promise<'pending' | 'completed' | null>
  /** The carrier refuses a `reference` that another campaign has. */
  createCampaign(brandId: string, profile: CampaignProfile, reference: string): Promise<RegisteredCampaign>
  /** Null: the carrier has no campaign of this brand with the reference. */
  findCampaignByReference(brandId: string, reference: string): Promise<RegisteredCampaign | null>
  findCampaign(campaignId: string): Promise<RegisteredCampaign>
  /** Moves a number that belongs to another campaign. */
  assign(e164: string, campaignId: string): Promise<NumberAssignment>
  /**
   * Does nothing if the number has no campaign. Null: the number has no campaign now. Otherwise the assignment as the
   * carrier has it.
   */
  unassign(e164: string): Promise<NumberAssignment | null>
  /** Null: it belongs to no campaign. */
  findAssignment(e164: string): Promise<NumberAssignment | null>
}

type SmsRegistryFailure = { isUnknown?: boolean; mayBeDone?: boolean; cause?: unknown }

/** The carrier refuses, or does not answer as it should. Its reasons are about fields of the profile that was sent. */
export class SmsRegistryError extends Error {
  readonly reviewErrors: readonly ReviewError[]
  /** The carrier has no brand, campaign or number of this name. */
  readonly isUnknown: boolean
  /** Nobody knows whether the carrier has done what it was asked for. */
  readonly mayBeDone: boolean

  constructor(
    reviewErrors: readonly ReviewError[],
    { isUnknown = false, mayBeDone = false, cause }: SmsRegistryFailure = {},
  ) {
    super('the registration of text messages failed', { cause })
    this.name = 'SmsRegistryError'
    this.reviewErrors = reviewErrors
    this.isUnknown = isUnknown
    this.mayBeDone = mayBeDone
  }
}
