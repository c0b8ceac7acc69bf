/** Sessions in the rooms of a LiveKit server, where one is configured. */
import { roomNameOf } from './domain/calls/call.ts'
import type { MediaRooms } from './domain/ports/media-rooms.ts'
import type { SessionRegistry } from './domain/sessions/live-sessions.ts'
import { RoomWatch } from './domain/sessions/room-watch.ts'
import type { SessionRooms } from './domain/sessions/start-session.ts'
import { claimsOf } from './domain/sessions/transport-token.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { createEnterRoom } from './handlers/session/rooms.ts'
import { openLiveKitRooms } from './providers/livekit/rooms.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { createLog } from './runtime/log.ts'
import { Loops } from './runtime/loops.ts'
import type { Store } from './store/store.ts'

export type RoomSessionParts = {
  config: ParleyConfig
  store: Store
  live: SessionRegistry
  log: ReturnType<typeof createLog>
}

export type RoomSessions = SessionRooms & { close(): Promise<void> }

/** A look that has not ended by then is left alone. */
const closeMs = 2000

/** Null: no LiveKit server is configured. */
export async function openRoomSessions({ config, store, live, log }: RoomSessionParts): Promise<RoomSessions | null> {
  const rooms = await openRooms(config, log)
  if (rooms === null) return null
  const watch = new RoomWatch({
    rooms,
    enter: createEnterRoom({
      rooms,
      sessions: live,
      keys: store.keys,
      clock: systemClock,
      log,
      requestId: systemIds.request,
    }),
    calls: async () => {
      const calls = await store.calls.inRooms()
      return calls.map(({ ownerId, ...call }) => {
        const isElsewhere = ownerId !== null && ownerId !== store.instanceId
        return { room: roomNameOf(call), claims: claimsOf(call), isElsewhere }
      })
    },
    clock: systemClock,
    log,
  })
  const loops = new Loops(systemClock, log)
  loops.start({ name: 'callers in rooms', everyMs: config.livekit.lookMs, run: () => watch.look() })
  return {
    url: rooms.url,
    mint: (seat, expiresAtMs) => rooms.mint(seat, expiresAtMs),
    watch: (room, claims) => watch.add({ room, claims }),
    async close() {
      await loops.stop(closeMs)
      await watch.close()
      await rooms.close()
    },
  }
}

async function openRooms(
  { livekit, sessions }: ParleyConfig,
  log: RoomSessionParts['log'],
): Promise<MediaRooms | null> {
  const { url, apiKey, apiSecret, connectMs } = livekit
  if (url === null || apiKey === null || apiSecret === null) return null
  return openLiveKitRooms({ url, apiKey, apiSecret, connectMs, keptMs: sessions.reconnectMs, clock: systemClock, log })
}
