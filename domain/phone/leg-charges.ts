/** Debits the legs of calls by phone, and ends the calls of this process whose credit or budget is gone. */
import type { LegChargeStore } from '../records/leg-costs.ts'
import type { PhoneCalls } from './phone-calls.ts'

export type LegChargesDeps = {
  charges: LegChargeStore
  phones: Pick<PhoneCalls, 'find'>
  /** The name of this process. */
  ownerId: string
}

/** Legs of one transaction. */
const legsMax = 200
const callsMax = 1_000

export async function chargeLegs({ charges, phones, ownerId }: LegChargesDeps): Promise<void> {
  for (let charged = legsMax; charged === legsMax; ) charged = await charges.charge(legsMax)
  for (const { callId, ...tenant } of await charges.withoutCredit(ownerId, callsMax))
    phones.find(tenant, callId)?.conversation?.creditGone()
}
