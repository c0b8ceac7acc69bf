/** The operations that start sessions: one for a browser, and a call to a phone. */
import type { DialPhone } from '../../domain/phone/outbound.ts'
import type { StartSession } from '../../domain/sessions/start.ts'
import { createPhoneSession } from './phone-sessions.ts'
import type { Repeatable } from './repeatable.ts'
import { createSession } from './sessions.ts'

export type SessionDeps = { sessions: StartSession; dial: DialPhone }

export function sessionOperations(
  { sessions, dial }: SessionDeps,
  nodeUrlOf: Parameters<typeof createSession>[1],
  repeatable: Repeatable,
) {
  return {
    createSession: createSession(sessions, nodeUrlOf),
    createPhoneSession: repeatable(createPhoneSession(dial)),
  }
}
