/** The operator's campaign, open to the numbers of all organizations. */
import { type SmsRegistry, SmsRegistryError } from '../ports/sms-registry.ts'
import type { SharedCampaign, SharedCampaignStore } from '../records/sms-registration.ts'
import { campaignStatusOf } from '../records/sms-states.ts'

/**
 * Reads the status at the carrier and stores it. If the carrier does not know the campaign or does not answer, stores
 * nothing and returns null.
 */
export async function shareCampaign(
  store: SharedCampaignStore,
  registry: Pick<SmsRegistry, 'findCampaign'>,
  input: Pick<SharedCampaign, 'label' | 'campaignId'>,
): Promise<SharedCampaign | null> {
  try {
    const campaign = { ...input, status: campaignStatusOf(await registry.findCampaign(input.campaignId)) }
    await store.set(campaign)
    return campaign
  } catch (error) {
    if (error instanceof SmsRegistryError) return null
    throw error
  }
}
