/** The campaign of the operator that the numbers of all organizations may use. */
import { type SmsRegistry, SmsRegistryError } from '../ports/sms-registry.ts'
import type { SharedCampaign, SharedCampaignStore } from '../records/sms-registration.ts'
import { campaignStatusOf } from '../records/sms-states.ts'

/** Reads the status at the carrier. Null: the carrier does not know the campaign, or does not answer; then nothing is stored. */
export async function shareCampaign(
  store: SharedCampaignStore,
  registry: Pick<SmsRegistry, 'findCampaign'>,
  wanted: Pick<SharedCampaign, 'label' | 'campaignId'>,
): Promise<SharedCampaign | null> {
  try {
    const campaign = { ...wanted, status: campaignStatusOf(await registry.findCampaign(wanted.campaignId)) }
    await store.set(campaign)
    return campaign
  } catch (error) {
    if (error instanceof SmsRegistryError) return null
    throw error
  }
}
