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
import { ConfigError } from './runtime/config.ts'
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

/** Null: no LiveKit server is configured. Rejects with ConfigError when its packages are not installed. */
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
  const keptMs = sessions.reconnectMs
  try {
    return await openLiveKitRooms({ url, apiKey, apiSecret, connectMs, keptMs, clock: systemClock, log })
  } catch (cause) {
    throw new ConfigError(
      'livekit.url: LiveKit needs two packages that are not installed here: npm install @livekit/rtc-node@1.1.0 livekit-server-sdk@2.19.2',
      { cause },
    )
  }
}
