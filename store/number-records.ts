/** Makes the store's repositories for phone numbers: their administration, and their use by calls. */

import type { SubmissionStore } from '../domain/numbers/business-verification.ts'
import type { NumberChargeStore } from '../domain/numbers/charges.ts'
import type { NumberOrderStore } from '../domain/numbers/orders.ts'
import type { LegDialogs } from '../domain/ports/leg-dialogs.ts'
import type { SipConnections } from '../domain/ports/sip-connections.ts'
import type { Clock } from '../domain/ports/system.ts'
import type { CallableNumbers, CallersOfNumbers } from '../domain/records/callable-number.ts'
import type { NumberImports } from '../domain/records/number-import.ts'
import type { PhoneNumberStore } from '../domain/records/phone-number.ts'
import type { ConnectionStore } from '../domain/records/sip-connection.ts'
import { createLegDialogs } from './calls/leg-dialogs.ts'
import { createSubmissionStore } from './numbers/business-verifications.ts'
import { createNumberCallers } from './numbers/number-callers.ts'
import { createNumberCharges } from './numbers/number-charges.ts'
import { createNumberImports } from './numbers/number-imports.ts'
import { createNumberOrders } from './numbers/number-orders.ts'
import { createNumberStore } from './numbers/owned-numbers.ts'
import { createPhoneNumbers } from './numbers/phone-numbers.ts'
import { createConnectionStore, createSipConnections } from './numbers/sip-connections.ts'
import type { Tenancy, Worlds } from './postgres/tenant.ts'
import type { Sealer } from './sealing/sealed.ts'

export type NumberRecords = {
  phoneNumbers: CallableNumbers
  ownedNumbers: PhoneNumberStore
  numberOrders: NumberOrderStore
  numberCharges: NumberChargeStore
  numberCallers: CallersOfNumbers
  numberImports: NumberImports
  businessVerifications: SubmissionStore
  ownedConnections: ConnectionStore
  sipConnections: SipConnections
  trunkDialogs: LegDialogs
}

export function createNumberRecords(worlds: Worlds & Tenancy, sealer: () => Sealer, clock: Clock): NumberRecords {
  return {
    phoneNumbers: createPhoneNumbers(worlds),
    ownedNumbers: createNumberStore(worlds, clock),
    numberOrders: createNumberOrders(worlds, clock),
    numberCharges: createNumberCharges(worlds, clock),
    numberCallers: createNumberCallers(worlds),
    numberImports: createNumberImports(worlds),
    businessVerifications: createSubmissionStore(worlds),
    ownedConnections: createConnectionStore(worlds, sealer),
    sipConnections: createSipConnections(worlds, sealer, clock),
    trunkDialogs: createLegDialogs(worlds, 'trunk'),
  }
}
