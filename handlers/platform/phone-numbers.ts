import type { PhoneNumbers } from '../../domain/numbers/phone-numbers.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PhoneNumber } from '../../domain/records/phone-number.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { wireOffer, wirePhoneNumber } from './phone-number-wire.ts'

type Handlers = PlatformHandlers<Caller>

/** Makes the operations on phone numbers. `hasTrunks`: this server can accept and place calls over SIP trunks. */
export function phoneNumberOperations(numbers: PhoneNumbers, hasTrunks: boolean) {
  const wired = (number: PhoneNumber) => wirePhoneNumber(number, hasTrunks)
  return {
    listPhoneNumbers: async (_request, { caller }) => ({
      status: 200,
      body: (await numbers.list(tenantOf(caller))).map(wired),
    }),
    getPhoneNumber: async ({ path }, { caller }) => ({
      status: 200,
      body: wired(await numbers.get(tenantOf(caller), path.id)),
    }),
    updatePhoneNumber: async ({ path, body }, { caller }) => ({
      status: 200,
      body: wired(await numbers.change(tenantOf(caller), path.id, body)),
    }),
    deletePhoneNumber: async ({ path }, { caller }) => {
      await numbers.release(tenantOf(caller), path.id)
      return { status: 200, body: { released: true } }
    },
    searchPhoneNumbers: async ({ query: { areaCode = null, locality = null, limit } }, { caller }) => ({
      status: 200,
      body: (await numbers.search(tenantOf(caller), { areaCode, locality, limit })).map(wireOffer),
    }),
    importPhoneNumber: async ({ body }, { caller }) => ({
      status: 201,
      body: wired(await numbers.import(tenantOf(caller), body)),
    }),
    purchasePhoneNumber: async ({ body }, { caller }) => ({
      status: 201,
      body: wired(await numbers.purchase(tenantOf(caller), body)),
    }),
  } satisfies Partial<Handlers>
}
