/**
 * Manages an organization's campaigns and their submission to the carrier. Each campaign costs a fee, so the request is
 * stored before the carrier gets it. If the answer is lost, the next submission searches for this campaign instead of
 * creating a second campaign.
 */
import type { CampaignProfile, RegisteredCampaign } from '../ports/sms-registry.ts'
import { afterSending } from '../records/fault.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import {
  type CampaignIntent,
  type OwnCampaign,
  ownCampaignOf,
  type Registration,
  type SubmittedCampaign,
} from '../records/sms-registration.ts'
import { campaignStatusOf } from '../records/sms-states.ts'
import { askCarrier } from './ask-carrier.ts'
import { inTurn, type RegistrationDeps } from './in-turn.ts'

/** The maximum number of campaigns, because each costs a monthly fee. Fixed in the contract. */
const campaignsMax = 100

/** A method that refuses a request throws ResourceFault. */
export type Campaigns = {
  save(tenant: Tenant, profile: CampaignProfile): Promise<OwnCampaign>
  /** Creates a new campaign at the carrier with each submission. */
  submit(tenant: Tenant): Promise<OwnCampaign>
}

export function createCampaigns(deps: RegistrationDeps): Campaigns {
  const { store } = deps
  return {
    save: async (tenant, profile) => {
      const saved = ({ campaign }: Registration) => ({ profile, reviewErrors: [], intent: campaign?.intent ?? null })
      return ownOf(await store.change(tenant, (stored) => ({ ...stored, campaign: saved(stored) })))
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
  const { brand, campaign } = registration
  if (campaign === null) throw new ResourceFault({ kind: 'sms_profile_missing', of: 'campaign' })
  if (brand?.status !== 'verified' || brand.carrierId === null) throw new ResourceFault({ kind: 'sms_brand_not_ready' })
  const { intent, profile } = campaign
  const recovered = intent && (await findLost(deps, tenant, intent))
  const isSame = intent !== null && JSON.stringify(intent.profile) === JSON.stringify(profile)
  if (recovered !== null && isSame) return ownOf(recovered)
  if ((recovered ?? registration).submitted.length >= campaignsMax)
    throw new ResourceFault({ kind: 'limit_reached', resource: 'campaign', limit: campaignsMax })
  // Sends the earlier request's reference again. If the carrier did receive the earlier request, it refuses the
  // repeated reference and creates no second campaign.
  const reference = intent !== null && isSame ? intent.reference : deps.campaignReference()
  return create(deps, tenant, { reference, brandId: brand.carrierId, profile }, isSame)
}

/**
 * Searches for the campaign from a request whose answer was lost, and stores it. Resolves with null if the carrier has
 * not created it.
 */
async function findLost(deps: RegistrationDeps, tenant: Tenant, intent: CampaignIntent): Promise<Registration | null> {
  const { registries } = deps
  const { brandId, reference } = intent
  const answer = await askCarrier('campaign', () => registries.of(tenant).findCampaignByReference(brandId, reference))
  return answer && keep(deps, tenant, answer)
}

/** Creates the campaign. `isRepeated` is true if an earlier request with `intent.reference` was sent to the carrier. */
async function create(
  deps: RegistrationDeps,
  tenant: Tenant,
  intent: CampaignIntent,
  isRepeated: boolean,
): Promise<OwnCampaign> {
  const { store, registries } = deps
  const { brandId, profile, reference } = intent
  const write = (change: Partial<NonNullable<Registration['campaign']>>) =>
    store.change(tenant, (stored) => ({ ...stored, campaign: stored.campaign && { ...stored.campaign, ...change } }))
  await write({ intent })
  const answer = await askCarrier(
    'campaign',
    () => registries.of(tenant).createCampaign(brandId, profile, reference),
    ({ reviewErrors, mayBeDone }) => write({ reviewErrors, intent: mayBeDone || isRepeated ? intent : null }),
  )
  // If the database's answer is lost, the campaign may be stored. A repetition would then create it twice.
  return ownOf(await afterSending(keep(deps, tenant, answer)))
}

function keep({ store, clock }: RegistrationDeps, tenant: Tenant, answer: RegisteredCampaign): Promise<Registration> {
  const { id, reviewErrors } = answer
  const made = { id, status: campaignStatusOf(answer), reviewErrors, submittedAtMs: clock.nowMs() }
  return store.change(tenant, (stored) => withCampaign(stored, made))
}

function withCampaign({ campaign, ...registration }: Registration, made: SubmittedCampaign): Registration {
  return {
    ...registration,
    campaign: campaign && { ...campaign, reviewErrors: [], intent: null },
    submitted: [made, ...registration.submitted],
  }
}
