/** The phone numbers of an organization. */
import { type Caller, tenantOf } from '../../domain/access/organization.ts'
import type { PhoneNumbers } from '../../domain/numbers/phone-numbers.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { wirePhoneNumber } from './phone-number-wire.ts'

type Handlers = PlatformHandlers<Caller>

export function phoneNumberOperations(numbers: PhoneNumbers) {
  return {
    listPhoneNumbers: async (_request, { caller }) => ({
      status: 200,
      body: (await numbers.list(tenantOf(caller))).map(wirePhoneNumber),
    }),
    getPhoneNumber: async ({ path }, { caller }) => ({
      status: 200,
      body: wirePhoneNumber(await numbers.get(tenantOf(caller), path.id)),
    }),
    updatePhoneNumber: async ({ path, body }, { caller }) => ({
      status: 200,
      body: wirePhoneNumber(await numbers.change(tenantOf(caller), path.id, body)),
    }),
  } satisfies Partial<Handlers>
}
