/** Sessions in a LiveKit server's rooms, if one is configured. */
import type { CallRegistry } from '../domain/calls/live/call-registry.ts'
import { RoomWatch } from '../domain/calls/live/room-watch.ts'
import type { MediaRooms } from '../domain/ports/media-rooms.ts'
import { roomNameOf } from '../domain/records/call.ts'
import type { SessionRooms } from '../domain/sessions/start-session.ts'
import { claimsOf } from '../domain/sessions/transport-token.ts'
import { createEnterRoom } from '../handlers/session/rooms.ts'
import { openLiveKitRooms } from '../providers/livekit/rooms.ts'
import { Loops } from '../runtime/timing/loops.ts'
import type { App } from './app.ts'

/** The longest wait for a running check of the rooms when the process ends. */
const closeMs = 2000

/** Connects to the LiveKit server. Null if no server is configured. */
export async function openRooms(app: App, live: CallRegistry): Promise<SessionRooms | null> {
  const { config, clock, log } = app
  const rooms = await openMediaRooms(app)
  if (rooms === null) return null
  app.closing(() => rooms.close())
  const watch = watchRooms(app, rooms, live)
  app.closing(() => watch.close())
  const loops = new Loops(clock, log)
  app.closing(() => loops.stop(closeMs))
  loops.start({ name: 'callers in rooms', everyMs: config.livekit.lookMs, run: () => watch.look() })
  return {
    url: rooms.url,
    mint: (seat, expiresAtMs) => rooms.mint(seat, expiresAtMs),
    watch: (room, claims) => watch.add({ room, claims }),
  }
}

function watchRooms(
  { store, revocations, clock, ids, log }: App,
  rooms: MediaRooms,
  sessions: CallRegistry,
): RoomWatch {
  return new RoomWatch({
    rooms,
    enter: createEnterRoom({
      rooms,
      sessions,
      keys: store.keys,
      watchGrant: revocations.watch,
      clock,
      log,
      requestId: ids.request,
    }),
    calls: async () => {
      const calls = await store.calls.inRooms()
      return calls.map(({ ownerId, ...call }) => {
        const isElsewhere = ownerId !== null && ownerId !== store.instanceId
        return { room: roomNameOf(call), claims: claimsOf(call), isElsewhere }
      })
    },
    clock,
    log,
  })
}

async function openMediaRooms({ config, clock, log }: App): Promise<MediaRooms | null> {
  const { livekit, sessions } = config
  const { url, apiKey, apiSecret, connectMs } = livekit
  if (url === null || apiKey === null || apiSecret === null) return null
  return openLiveKitRooms({ url, apiKey, apiSecret, connectMs, reconnectMs: sessions.reconnectMs, clock, log })
}
