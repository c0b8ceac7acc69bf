/**
 * Debits the cost of phone legs from the credit. If a call has no credit or budget left, this process ends the call.
 */
import type { LegChargeStore } from '../records/leg-costs.ts'
import type { PhoneCalls } from './phone-calls.ts'

export type LegChargesDeps = {
  charges: LegChargeStore
  phones: Pick<PhoneCalls, 'find'>
  /** This process's name. */
  ownerId: string
}

/** The maximum number of legs in one transaction. */
const legsMax = 200
const callsMax = 1_000

export async function chargeLegs({ charges, phones, ownerId }: LegChargesDeps): Promise<void> {
  for (let charged = legsMax; charged === legsMax; ) charged = await charges.charge(legsMax)
  for (const { callId, ...tenant } of await charges.withoutCredit(ownerId, callsMax))
    phones.find(tenant, callId)?.conversation?.creditGone()
}
