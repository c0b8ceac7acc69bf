/** Makes the store's repositories for the registration that text messages from ten-digit numbers need. */
import type { Clock } from '../../domain/ports/system.ts'
import type { SharedCampaignStore, SmsRegistrationStore } from '../../domain/records/sms-registration.ts'
import type { NumberCampaigns } from '../../domain/sms/in-turn.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { createNumberCampaigns, createSharedCampaignStore, createSmsRegistrationStore } from './sms-registrations.ts'

export type SmsRecords = {
  smsRegistrations: SmsRegistrationStore
  sharedCampaign: SharedCampaignStore
  numberCampaigns: NumberCampaigns
}

export function createSmsRecords(worlds: Worlds & Tenancy, clock: Clock): SmsRecords {
  return {
    smsRegistrations: createSmsRegistrationStore(worlds, clock),
    sharedCampaign: createSharedCampaignStore(worlds),
    numberCampaigns: createNumberCampaigns(worlds, clock),
  }
}
