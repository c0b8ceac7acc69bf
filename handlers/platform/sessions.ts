import type { Caller } from '../../domain/records/organization.ts'
import type { StartedSession, StartSession } from '../../domain/sessions/start.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { StartedSession as WireStartedSession } from '../../generated/platform/types.ts'
import type { PublicUrlOf } from '../public-url.ts'
import { timeOf } from './times.ts'

type Handlers = PlatformHandlers<Caller>

export function createSession(sessions: StartSession, publicUrlOf: PublicUrlOf): Handlers['createSession'] {
  return async ({ body }, { caller, peer }) => ({
    status: 201,
    body: wireStarted(await sessions.start(caller, body, publicUrlOf(peer))),
  })
}

function wireStarted({
  id,
  test,
  transport,
  token,
  url,
  roomName,
  identity,
  ...times
}: StartedSession): WireStartedSession {
  return {
    sessionId: id,
    ...(test && { test: true }),
    status: 'queued',
    transport,
    transportToken: token,
    transportUrl: url,
    roomName,
    identity,
    expiresAt: timeOf(times.expiresAtMs),
  }
}
