/** The part of the store that knows phone numbers: as they are administered, and as calls need them. */
import type { PhoneNumberStore } from '../domain/numbers/phone-number.ts'
import type { CallableNumbers, CallersOfNumbers } from '../domain/phone/ports.ts'
import { createNumberCallers } from './number-callers.ts'
import { createNumberStore } from './owned-numbers.ts'
import { createPhoneNumbers } from './phone-numbers.ts'
import type { Tenancy, Worlds } from './tenant.ts'

export type NumberRecords = {
  phoneNumbers: CallableNumbers
  ownedNumbers: PhoneNumberStore
  numberCallers: CallersOfNumbers
}

export function createNumberRecords(worlds: Worlds & Tenancy): NumberRecords {
  return {
    phoneNumbers: createPhoneNumbers(worlds),
    ownedNumbers: createNumberStore(worlds),
    numberCallers: createNumberCallers(worlds),
  }
}
