/** Steps that cost money at the carrier run one after the other, so that a request that is sent twice is paid once. */
import type { Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import type { PhoneNumber } from '../records/phone-number.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import type { SharedCampaignStore, SmsRegistrationStore, SmsRegistries } from '../records/sms-registration.ts'

export type CampaignOfNumber = Pick<PhoneNumber, 'smsAssignment' | 'smsReviewErrors'>

/** The campaigns of numbers. */
export interface NumberCampaigns {
  /** Oldest first. */
  list(tenant: Tenant): Promise<PhoneNumber[]>
  find(tenant: Tenant, id: string): Promise<PhoneNumber | null>
  /** Null: the number is gone. */
  assign(tenant: Tenant, id: string, state: CampaignOfNumber): Promise<PhoneNumber | null>
}

export type RegistrationDeps = {
  store: SmsRegistrationStore
  shared: SharedCampaignStore
  numbers: NumberCampaigns
  registries: SmsRegistries
  /** The id of the company that vets brands, at the carrier. */
  vettingProvider: string
  clock: Clock
  /** UUID. */
  campaignReference(): string
  isPhoneNumber: (text: string) => boolean
  isUsNumber: (e164: string) => boolean
}

/** After this time the process that began a step counts as gone. */
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
