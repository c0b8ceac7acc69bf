/** The operator's campaign. Every organization may assign its numbers to it. */
import { type SmsRegistry, SmsRegistryError } from '../ports/sms-registry.ts'
import type { SharedCampaign, SharedCampaignStore } from '../records/sms-registration.ts'
import { campaignStatusOf } from '../records/sms-states.ts'

/**
 * Shares a campaign: reads its status at the carrier and stores both. If the carrier does not know the campaign or does
 * not answer, stores nothing and returns null.
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
