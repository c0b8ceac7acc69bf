/** Reads statuses at the carrier and stores them. If a status cannot be read, the stored status is kept. */
import { type NumberAssignment, type SmsRegistry, SmsRegistryError } from '../ports/sms-registry.ts'
import type { Tenant } from '../records/organization.ts'
import type { PhoneNumber } from '../records/phone-number.ts'
import type { Registration, SharedCampaign, SubmittedCampaign } from '../records/sms-registration.ts'
import { campaignStatusOf } from '../records/sms-states.ts'
import type { CampaignOfNumber, RegistrationDeps } from './in-turn.ts'

/** After this time no further status is read, even if some statuses are still unread. */
const refreshMs = 20_000
const atOnce = 8

type CampaignRead = Pick<Registration['submitted'][number], 'status' | 'reviewErrors'>

export async function refreshCampaigns(
  deps: RegistrationDeps,
  tenant: Tenant,
  isMeant: (campaign: SubmittedCampaign) => boolean = () => true,
): Promise<Registration> {
  const { store, registries } = deps
  const registry = registries.of(tenant)
  const stored = await store.find(tenant)
  const submitted = stored.submitted.filter(isMeant)
  if (submitted.length === 0) return stored
  const read = new Map<string, CampaignRead>()
  await eachOf(deps, submitted, async ({ id }) => {
    read.set(id, await campaignRead(registry, id))
  })
  return store.change(tenant, (registration) => ({
    ...registration,
    submitted: registration.submitted.map((campaign) => ({ ...campaign, ...read.get(campaign.id) })),
  }))
}

/** Reads one campaign's status. If the carrier has removed the campaign, it counts as expired. */
async function campaignRead(registry: SmsRegistry, id: string): Promise<CampaignRead> {
  try {
    const answer = await registry.findCampaign(id)
    return { status: campaignStatusOf(answer), reviewErrors: answer.reviewErrors }
  } catch (error) {
    if (!(error instanceof SmsRegistryError) || !error.isUnknown) throw error
    return { status: 'expired', reviewErrors: error.reviewErrors }
  }
}

export async function refreshNumbers(deps: RegistrationDeps, tenant: Tenant): Promise<void> {
  const registry = deps.registries.of(tenant)
  const assigned = (await deps.numbers.list(tenant)).filter(({ smsAssignment }) => smsAssignment !== null)
  await eachOf(deps, assigned, async (number) => {
    await deps.numbers.assign(tenant, number.id, withAnswer(deps, number, await registry.findAssignment(number.e164)))
  })
}

/**
 * Makes the campaign assignment that is stored for the number, from the carrier's answer. `assignedTo` says if the
 * campaign is the organization's or the shared one.
 */
export function withAnswer(
  { clock }: Pick<RegistrationDeps, 'clock'>,
  { smsAssignment: before }: Pick<PhoneNumber, 'smsAssignment'>,
  answer: NumberAssignment | null,
  assignedTo = before?.assignedTo ?? 'own',
): CampaignOfNumber {
  if (answer === null) return { smsAssignment: null, smsReviewErrors: [] }
  const { campaignId, status, reviewErrors } = answer
  const isSame = before?.status === status && before.campaignId === campaignId
  const updatedAtMs = isSame ? before.updatedAtMs : clock.nowMs()
  return { smsAssignment: { campaignId, status, assignedTo, updatedAtMs }, smsReviewErrors: reviewErrors }
}

/**
 * Reads the shared campaign's status at the carrier for live (not test) API keys. Resolves with null if there is no
 * shared campaign.
 */
export async function refreshShared(
  deps: Pick<RegistrationDeps, 'shared' | 'registries'>,
): Promise<SharedCampaign | null> {
  const campaign = await deps.shared.find()
  if (campaign === null) return null
  const status = await sharedStatus(deps.registries.of({ test: false }), campaign)
  if (status === campaign.status) return campaign
  const read = { ...campaign, status }
  await deps.shared.set(read)
  return read
}

async function sharedStatus(registry: SmsRegistry, { campaignId, status }: SharedCampaign) {
  try {
    return (await campaignRead(registry, campaignId)).status
  } catch (error) {
    if (error instanceof SmsRegistryError) return status
    throw error
  }
}

async function eachOf<Item>(
  { clock }: Pick<RegistrationDeps, 'clock'>,
  items: readonly Item[],
  read: (item: Item) => Promise<void>,
): Promise<void> {
  const lateMs = clock.nowMs() + refreshMs
  const left = [...items]
  const work = async () => {
    for (let item = left.shift(); item !== undefined && clock.nowMs() < lateMs; item = left.shift())
      await read(item).catch((error: unknown) => {
        if (!(error instanceof SmsRegistryError)) throw error
      })
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}
