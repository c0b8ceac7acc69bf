/** The campaigns of an organization: what it sends, and how that is submitted to the carrier. */
import type { Tenant } from '../access/organization.ts'
import { type CampaignProfile, SmsRegistryError } from '../ports/sms-registry.ts'
import { ResourceFault } from '../resource-fault.ts'
import { inTurn, type RegistrationDeps } from './in-turn.ts'
import { type OwnCampaign, ownCampaignOf, type Registration, type SubmittedCampaign } from './registration.ts'
import { campaignStatusOf } from './states.ts'

/** Each costs a fee every month. Part of the contract. */
const campaignsMax = 100

/** Every operation throws ResourceFault. */
export type Campaigns = {
  save(tenant: Tenant, profile: CampaignProfile): Promise<OwnCampaign>
  /** Makes a new campaign at the carrier each time. */
  submit(tenant: Tenant): Promise<OwnCampaign>
}

export function createCampaigns(deps: RegistrationDeps): Campaigns {
  const { store } = deps
  return {
    save: async (tenant, profile) => {
      const campaign = { profile, reviewErrors: [] }
      return ownOf(await store.change(tenant, (registration) => ({ ...registration, campaign })))
    },
    submit: (tenant) => inTurn(deps, tenant, async () => submit(deps, tenant, await store.find(tenant))),
  }
}

function ownOf(registration: Registration): OwnCampaign {
  const own = ownCampaignOf(registration)
  if (own === null) throw new Error('a campaign that was written is not there')
  return own
}

async function submit(deps: RegistrationDeps, tenant: Tenant, registration: Registration): Promise<OwnCampaign> {
  const { store, registries, clock } = deps
  const { brand, campaign, submitted } = registration
  if (campaign === null) throw new ResourceFault({ kind: 'sms_profile_missing', of: 'campaign' })
  if (brand?.status !== 'verified' || brand.carrierId === null) throw new ResourceFault({ kind: 'sms_brand_not_ready' })
  if (submitted.length >= campaignsMax)
    throw new ResourceFault({ kind: 'limit_reached', resource: 'campaign', limit: campaignsMax })
  try {
    const answer = await registries.of(tenant).createCampaign(brand.carrierId, campaign.profile)
    const { id, reviewErrors } = answer
    const made = { id, status: campaignStatusOf(answer), reviewErrors, submittedAtMs: clock.nowMs() }
    return ownOf(await store.change(tenant, (stored) => withCampaign(stored, made)))
  } catch (error) {
    if (!(error instanceof SmsRegistryError)) throw error
    const { reviewErrors } = error
    await store.change(tenant, (stored) => ({
      ...stored,
      campaign: stored.campaign && { ...stored.campaign, reviewErrors },
    }))
    throw new ResourceFault({ kind: 'sms_carrier_failed', of: 'campaign' }, { cause: error })
  }
}

function withCampaign({ campaign, ...registration }: Registration, made: SubmittedCampaign): Registration {
  return {
    ...registration,
    campaign: campaign && { ...campaign, reviewErrors: [] },
    submitted: [made, ...registration.submitted],
  }
}
