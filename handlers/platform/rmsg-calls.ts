import type { Caller } from '../../domain/records/organization.ts'
import { type CallFromNumberDeps, createCallFromNumber } from '../../domain/rmsg/call-from-number.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'

export function createRmsgCall(deps: CallFromNumberDeps): PlatformHandlers<Caller>['callFromRmsgNumber'] {
  const callFrom = createCallFromNumber(deps)
  return async ({ path: { phoneNumberId }, body }, { caller }) => {
    const { id, test, legId, to, from } = await callFrom(caller, phoneNumberId, body)
    return {
      status: 200,
      body: {
        callId: id,
        ...(test && { test: true }),
        callControlId: legId,
        status: 'dialing',
        to,
        from,
        phoneNumberId,
      },
    }
  }
}
