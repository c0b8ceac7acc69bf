/**
 * The sessions' media channel. Refusals before the upgrade have the platform API's error body, because sessions are
 * made in the platform API.
 */
import type { WatchGrant } from '../../domain/access/revocations.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { type SessionHandlers, sessionSurface, widenSessionHandlers } from '../../generated/session/channels.ts'
import type { SocketMount } from '../../runtime/engine/options.ts'
import type { SocketContext } from '../../runtime/engine/socket.ts'
import { createPlatformFaultWriter } from '../platform/faults.ts'
import { Deadlines } from '../realtime/deadlines.ts'
import { revocable } from '../revocable.ts'
import type { SurfaceSettings } from '../surface.ts'
import { createSessionAdmit, type GrantedSeat, type SessionAdmitDeps } from './admit.ts'
import { MediaSocket } from './media-socket.ts'
import { Seats } from './seats.ts'
import { SocketAudio } from './socket-audio.ts'

/** A socket waits this long for overrides. Part of the contract. */
const overridesMs = 500

export type SessionDeps = SessionAdmitDeps & { clock: Clock; watchGrant: WatchGrant }

export function mountSession({ host, log, count }: SurfaceSettings, deps: SessionDeps): SocketMount {
  const { clock, watchGrant } = deps
  const shared = { seats: new Seats(), deadlines: new Deadlines(clock), clock, log, overridesMs }
  const handlers: SessionHandlers<GrantedSeat> = {
    sessionMedia: revocable(
      watchGrant,
      ({ caller }: SocketContext<GrantedSeat>) => caller.grant,
      (socket, context) => new MediaSocket(shared, socket, context, (events) => new SocketAudio(socket, events)),
    ),
  }
  return {
    surface: sessionSurface,
    basePath: '',
    host,
    handlers: widenSessionHandlers(handlers),
    admit: createSessionAdmit(deps),
    writeFault: createPlatformFaultWriter(log, count),
  }
}
