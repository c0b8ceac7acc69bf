/**
 * Registers businesses to send text messages from US ten-digit numbers (10DLC). A carrier forwards the registration to
 * the registry: a business (brand) describes its messages (campaign), and each number belongs to one campaign. The
 * statuses have the carrier's spelling.
 */

export type BrandProfile = {
  legalName: string
  displayName: string
  entityType: 'PRIVATE_PROFIT' | 'PUBLIC_PROFIT' | 'NON_PROFIT' | 'GOVERNMENT' | 'SOLE_PROPRIETOR'
  vertical: string
  /** The tax number. Null for a sole proprietor without a tax number. */
  ein: string | null
  website: string
  /** Two letters (ISO 3166-1). */
  country: string
  street: string
  city: string
  state: string
  postalCode: string
  supportEmail: string
  /** A phone number in E.164 form. */
  supportPhone: string
  authorizedContact: { firstName: string; lastName: string; email: string; phone: string }
}

export type CampaignProfile = {
  useCase: string
  description: string
  messageFlow: string
  /** One to five texts. */
  sampleMessages: readonly string[]
  /** Keywords, separated by commas. */
  optInKeywords: string
  /** The message to a new subscriber. Null if no such message is sent. */
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

/** `field` names a field of the profile. It is null if the error is not about a single field. */
export type ReviewError = { field: string | null; message: string }

export type RegisteredBrand = {
  id: string
  status: 'OK' | 'REGISTRATION_PENDING' | 'REGISTRATION_FAILED'
  identityStatus: IdentityStatus | null
  reviewErrors: readonly ReviewError[]
}

export type RegisteredCampaign = {
  id: string
  /**
   * The carrier's status. For example, `MNO_PROVISIONED` means that the mobile networks deliver the campaign's
   * messages.
   */
  status: string
  reviewErrors: readonly ReviewError[]
}

export type NumberAssignment = {
  campaignId: string
  status: AssignmentStatus
  /** The reasons why the assignment or its removal failed. */
  reviewErrors: readonly ReviewError[]
}

/** If the carrier refuses a request or does not answer, the method throws SmsRegistryError. */
export interface SmsRegistry {
  createBrand(profile: BrandProfile): Promise<RegisteredBrand>
  updateBrand(brandId: string, profile: BrandProfile): Promise<RegisteredBrand>
  findBrand(brandId: string): Promise<RegisteredBrand>
  /** Finds the account's brands with the profile's names and tax number, created since `sinceMs`, newest first. */
  findBrandsLike(profile: BrandProfile, sinceMs: number): Promise<RegisteredBrand[]>
  /** Orders a paid vetting of the brand. `provider` is the id of the vetting company, at most 10 characters. */
  orderVetting(brandId: string, provider: string, vettingClass: VettingClass): Promise<void>
  /**
   * Finds the newest vetting in this class. Resolves with null if no vetting was ordered. Carriers do not report a
   * failed vetting.
   */
  findVetting(brandId: string, vettingClass: VettingClass): Promise<'pending' | 'completed' | null>
  /** Creates a campaign. The carrier refuses a `reference` that another campaign has. */
  createCampaign(brandId: string, profile: CampaignProfile, reference: string): Promise<RegisteredCampaign>
  /** Resolves with null if the carrier has no campaign with this brand and reference. */
  findCampaignByReference(brandId: string, reference: string): Promise<RegisteredCampaign | null>
  findCampaign(campaignId: string): Promise<RegisteredCampaign>
  /** Assigns the number to the campaign. If the number belongs to another campaign, it is moved. */
  assign(e164: string, campaignId: string): Promise<NumberAssignment>
  /**
   * Removes the number from its campaign, if it has one. Resolves with null if the number has no campaign now,
   * otherwise with the carrier's current assignment.
   */
  unassign(e164: string): Promise<NumberAssignment | null>
  /** Resolves with null if the number belongs to no campaign. */
  findAssignment(e164: string): Promise<NumberAssignment | null>
}

type SmsRegistryFailure = { isUnknown?: boolean; mayBeDone?: boolean; cause?: unknown }

/**
 * The carrier refused the request, or its answer was missing or malformed. `reviewErrors` concern fields in the sent
 * profile.
 */
export class SmsRegistryError extends Error {
  readonly reviewErrors: readonly ReviewError[]
  /** True if the carrier does not know the brand, the campaign or the number. */
  readonly isUnknown: boolean
  /** True if the carrier may have acted in spite of the error. */
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
