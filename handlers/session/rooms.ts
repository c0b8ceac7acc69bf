/** Joins the media rooms of sessions as the agent's participant. */
import type { LiveKeys } from '../../domain/access/ephemeral.ts'
import { isGood, type WatchGrant } from '../../domain/access/revocations.ts'
import type { EnterRoom } from '../../domain/calls/live/room-watch.ts'
import type { SeatAdmission, SessionOwnership } from '../../domain/calls/live/seats.ts'
import type { MediaRooms } from '../../domain/ports/media-rooms.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { tenantOf } from '../../domain/records/organization.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { Deadlines } from '../realtime/deadlines.ts'
import { createRoomAudioWatch } from './room-audio.ts'
import { access, RoomSession, type RoomSessionDeps } from './room-session.ts'
import { Seats } from './seats.ts'

export type EnterRoomDeps = {
  rooms: Pick<MediaRooms, 'enter' | 'delete'>
  sessions: SeatAdmission & SessionOwnership
  keys: LiveKeys
  watchGrant: WatchGrant
  clock: Clock
  log: Log
  requestId: () => string
}

/**
 * The wait for overrides. The caller sends them when the agent's track has arrived, which takes longer than opening a
 * socket.
 */
const overridesMs = 1500

/**
 * Makes a function to join a room. The process claims the session first, so only one process is the agent in the room.
 */
export function createEnterRoom({ keys, sessions, ...deps }: EnterRoomDeps): EnterRoom {
  const { rooms, clock } = deps
  const shared: RoomSessionDeps = {
    ...deps,
    sessions,
    seats: new Seats(),
    deadlines: new Deadlines(clock),
    audioWatch: createRoomAudioWatch(clock),
    overridesMs,
  }
  return async (claims, room) => {
    const { sessionId, identity, organizationId, keyId } = claims
    const caller = await keys.find(organizationId, keyId)
    if (!isGood(caller, access)) throw new ResourceFault({ kind: 'not_found' })
    const tenant = tenantOf(caller)
    const seat = await sessions.admit(claims, caller)
    if ('ownerId' in seat) return null
    if (!sessions.isLive(sessionId) && !(await sessions.hold(tenant, sessionId))) return null
    const entered: { session: RoomSession | null } = { session: null }
    try {
      await rooms.enter({ room, identity }, seat.sampleRate, (it) => {
        entered.session = new RoomSession(shared, caller, seat, room, it)
        return entered.session
      })
    } catch (error) {
      if (!sessions.isLive(sessionId)) await sessions.letGo(tenant, sessionId)
      throw error
    }
    return entered.session
  }
}
