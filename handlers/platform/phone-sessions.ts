import type { DialPhone } from '../../domain/phone/outbound.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'

type Handlers = PlatformHandlers<Caller>

export function createPhoneSession(dial: DialPhone): Handlers['createPhoneSession'] {
  return async ({ body }, { caller }) => {
    const { id, test, legId, roomName, to, from } = await dial(caller, body)
    return {
      status: 200,
      body: {
        sessionId: id,
        ...(test && { test: true }),
        callControlId: legId,
        roomName,
        status: 'dialing',
        to,
        from,
      },
    }
  }
}
