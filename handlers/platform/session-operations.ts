/** Makes the operations that start sessions: in a browser, or with a call to a phone. */
import type { DialPhone } from '../../domain/phone/outbound.ts'
import { createRmsgNumbers, type RmsgNumberStore } from '../../domain/rmsg/numbers.ts'
import type { StartSession } from '../../domain/sessions/start.ts'
import { isPhoneNumber } from '../../runtime/values/phone-number.ts'
import { createPhoneSession } from './phone-sessions.ts'
import type { Repeatable } from './repeatable.ts'
import { createRmsgCall } from './rmsg-calls.ts'
import { createSession } from './sessions.ts'

export type SessionDeps = { sessions: StartSession; dial: DialPhone; stores: { rmsgNumbers: RmsgNumberStore } }

export function sessionOperations(
  { sessions, dial, stores }: SessionDeps,
  nodeUrlOf: Parameters<typeof createSession>[1],
  repeatable: Repeatable,
) {
  return {
    createSession: createSession(sessions, nodeUrlOf),
    createPhoneSession: repeatable(createPhoneSession(dial)),
    callFromRmsgNumber: repeatable(
      createRmsgCall({ numbers: createRmsgNumbers(stores.rmsgNumbers), dial, isPhoneNumber }),
    ),
  }
}
