/** Registers organizations for text messages in the USA (10DLC). */
import type { Tenant } from '../records/organization.ts'
import type { PhoneNumber } from '../records/phone-number.ts'
import { activeCampaignOf, type Registration, type SharedCampaign } from '../records/sms-registration.ts'
import { type Assignments, type CampaignTarget, createAssignments, isEligible } from './assignments.ts'
import { type Brands, createBrands } from './brands.ts'
import { type Campaigns, createCampaigns } from './campaigns.ts'
import type { RegistrationDeps } from './in-turn.ts'

export type SmsOverview = {
  registration: Registration
  shared: SharedCampaign | null
  /** The organization's phone numbers, oldest first. */
  numbers: PhoneNumber[]
  /** True if any number is assigned to an approved campaign. */
  isReady: boolean
  /** The campaign that an assignment without a target uses. */
  activeSource: CampaignTarget | null
}

export type SmsRegistrations = {
  /** Reads the overview from the database, without a request to the carrier. */
  overview: (tenant: Tenant) => Promise<SmsOverview>
  isEligible: (number: PhoneNumber) => boolean
  brands: Brands
  campaigns: Campaigns
  assignments: Assignments
}

export function createSmsRegistrations(deps: RegistrationDeps): SmsRegistrations {
  const { store, numbers } = deps
  return {
    async overview(tenant) {
      const registration = await store.find(tenant)
      const shared = tenant.test ? null : await deps.shared.find()
      const stored = await numbers.list(tenant)
      const own = activeCampaignOf(registration)
      const activeSource = own !== null ? 'own' : shared?.status === 'active' ? 'shared' : null
      return { registration, shared, numbers: stored, isReady: isReady(registration, shared, stored), activeSource }
    },
    isEligible: (number) => isEligible(deps, number),
    brands: createBrands(deps),
    campaigns: createCampaigns(deps),
    assignments: createAssignments(deps),
  }
}

function isReady({ submitted }: Registration, shared: SharedCampaign | null, numbers: readonly PhoneNumber[]): boolean {
  const active = new Set(submitted.filter(({ status }) => status === 'active').map(({ id }) => id))
  if (shared?.status === 'active') active.add(shared.campaignId)
  return numbers.some(
    ({ smsAssignment }) => smsAssignment?.status === 'ASSIGNED' && active.has(smsAssignment.campaignId),
  )
}
