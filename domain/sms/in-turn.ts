/** Runs paid steps at the carrier one after the other, so a repeated request is paid once. */
import type { Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import type { PhoneNumber } from '../records/phone-number.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import type { SharedCampaignStore, SmsRegistrationStore, SmsRegistries } from '../records/sms-registration.ts'

export type CampaignOfNumber = Pick<PhoneNumber, 'smsAssignment' | 'smsReviewErrors'>

export interface NumberCampaigns {
  /** Oldest first. */
  list(tenant: Tenant): Promise<PhoneNumber[]>
  find(tenant: Tenant, id: string): Promise<PhoneNumber | null>
  /** Null if the number is gone. */
  assign(tenant: Tenant, id: string, state: CampaignOfNumber): Promise<PhoneNumber | null>
}

export type RegistrationDeps = {
  store: SmsRegistrationStore
  shared: SharedCampaignStore
  numbers: NumberCampaigns
  registries: SmsRegistries
  /** The carrier's id for the company that vets brands. */
  vettingProvider: string
  clock: Clock
  /** UUID. */
  campaignReference(): string
  isPhoneNumber: (text: string) => boolean
  isUsNumber: (e164: string) => boolean
}

/** After this time the step's process counts as dead. */
const stepMs = 120_000

/** Throws ResourceFault `sms_under_way` while another step runs. */
export async function inTurn<Outcome>(
  { store, clock }: RegistrationDeps,
  tenant: Tenant,
  step: () => Promise<Outcome>,
): Promise<Outcome> {
  if (!(await store.claim(tenant, clock.nowMs() + stepMs))) throw new ResourceFault({ kind: 'sms_under_way' })
  try {
    return await step()
  } finally {
    await store.release(tenant)
  }
}
