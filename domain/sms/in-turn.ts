/** Runs an organization's paid steps at the carrier one at a time, so that a repeated request is paid only once. */
import type { Clock } from '../ports/system.ts'
import { Fault } from '../records/fault.ts'
import type { Tenant } from '../records/organization.ts'
import type { PhoneNumber } from '../records/phone-number.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import type { SharedCampaignStore, SmsRegistrationStore, SmsRegistries } from '../records/sms-registration.ts'

export type CampaignOfNumber = Pick<PhoneNumber, 'smsAssignment' | 'smsReviewErrors'>

export interface NumberCampaigns {
  /** Lists the phone numbers, oldest first. */
  list(tenant: Tenant): Promise<PhoneNumber[]>
  find(tenant: Tenant, id: string): Promise<PhoneNumber | null>
  /** Stores the number's campaign. Resolves with null if the number no longer exists. */
  assign(tenant: Tenant, id: string, state: CampaignOfNumber): Promise<PhoneNumber | null>
}

export type RegistrationDeps = {
  store: SmsRegistrationStore
  shared: SharedCampaignStore
  numbers: NumberCampaigns
  registries: SmsRegistries
  /** The carrier's id for the vetting company. */
  vettingProvider: string
  clock: Clock
  /** A UUID. */
  campaignReference(): string
  isPhoneNumber: (text: string) => boolean
  isUsNumber: (e164: string) => boolean
}

/** If a step is still claimed after this time, its process counts as dead. */
const stepMs = 120_000

/** Runs the step. Throws ResourceFault `sms_under_way` if another step is running. */
export async function inTurn<Outcome>(
  { store, clock }: RegistrationDeps,
  tenant: Tenant,
  step: () => Promise<Outcome>,
): Promise<Outcome> {
  if (!(await store.claim(tenant, clock.nowMs() + stepMs))) throw new ResourceFault({ kind: 'sms_under_way' })
  try {
    return await step()
  } finally {
    // A fault of the database is ignored here: the carrier may have carried out the step, and an error would let the
    // client repeat the step. A claim that is not released ends by itself.
    await store.release(tenant).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error
    })
  }
}
