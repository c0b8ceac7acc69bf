/** Makes the store's repositories for the phone side of calls: legs and their charges, transfers, and callbacks. */
import type { CallbackStore } from '../domain/callbacks/store.ts'
import type { Clock } from '../domain/ports/system.ts'
import type { TransferStore } from '../domain/records/transfer.ts'
import { createLegStore, type StoredLegs } from './calls/call-legs.ts'
import { createCallbackStore } from './calls/callbacks.ts'
import { createLegCharges } from './calls/leg-charges.ts'
import { createTransferStore } from './calls/transfers.ts'
import type { Tenancy, Worlds } from './postgres/tenant.ts'

export type PhoneRecords = {
  legs: StoredLegs
  legCharges: ReturnType<typeof createLegCharges>
  transfers: TransferStore
  callbacks: CallbackStore
}

/** `eventId` makes the id for a call event, a UUIDv7. */
export function createPhoneRecords(worlds: Worlds & Tenancy, clock: Clock, eventId: () => string): PhoneRecords {
  return {
    legs: createLegStore({ worlds, clock }),
    legCharges: createLegCharges(worlds, clock),
    transfers: createTransferStore(worlds),
    callbacks: createCallbackStore({ worlds, clock, eventId }),
  }
}
