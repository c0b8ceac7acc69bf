/** Rooms on a LiveKit server. A room's name is its session's name, and the agent has a fixed name in each room. */
import type * as Server from 'livekit-server-sdk'
import type { EnteredRoom, MediaRooms, RoomEvents, RoomSeat } from '../../domain/ports/media-rooms.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { loadLiveKit } from '../../runtime/optional.ts'
import { within } from '../../runtime/timing/clock.ts'
import { LiveKitRoom } from './room.ts'

export type LiveKitSettings = {
  /** The LiveKit server's URL, with ws:// or wss://. */
  url: string
  apiKey: string
  apiSecret: string
  /** The time limit for joining a room, and for each request to the LiveKit server. */
  connectMs: number
  /** A room stays open for this time after its caller has left, so a disconnected caller can rejoin. */
  reconnectMs: number
  clock: Clock
  log: Log
}

/** The maximum number of participants in a room: caller, agent, and observers. */
const participantsMax = 16
/** If the caller leaves the room before the agent joins, the server removes the room after this time. */
const emptyS = 60
const agentTtlS = 60

export async function openLiveKitRooms(settings: LiveKitSettings): Promise<MediaRooms> {
  return new LiveKitRooms(settings, await loadLiveKit())
}

type Sdks = Awaited<ReturnType<typeof loadLiveKit>>

class LiveKitRooms implements MediaRooms {
  readonly url: string
  readonly #settings: LiveKitSettings
  readonly #sdks: Sdks
  readonly #service: Server.RoomServiceClient
  readonly #entered = new Set<LiveKitRoom>()

  constructor(settings: LiveKitSettings, sdks: Sdks) {
    const { url, apiKey, apiSecret, connectMs } = settings
    this.url = url
    this.#settings = settings
    this.#sdks = sdks
    this.#service = new sdks.server.RoomServiceClient(url.replace(/^ws/, 'http'), apiKey, apiSecret, {
      requestTimeout: connectMs / 1000,
    })
  }

  mint({ room, identity }: RoomSeat, expiresAtMs: number): Promise<string> {
    const { clock, reconnectMs } = this.#settings
    const { RoomConfiguration, TrackSource } = this.#sdks.server
    const token = this.#token(identity, Math.ceil((expiresAtMs - clock.nowMs()) / 1000))
    const canPublishSources = [TrackSource.MICROPHONE]
    token.addGrant({ ...join(room), canPublishSources, canUpdateOwnMetadata: false })
    token.roomConfig = new RoomConfiguration({
      emptyTimeout: emptyS,
      ['departureTimeout']: Math.ceil(reconnectMs / 1000) + emptyS,
      maxParticipants: participantsMax,
    })
    return token.toJwt()
  }

  async existing(rooms: readonly string[]): Promise<ReadonlySet<string>> {
    const liveRooms = await this.#service.listRooms([...rooms])
    return new Set(liveRooms.map(({ name }) => name))
  }

  async enter(seat: RoomSeat, sampleRateHz: number, open: (room: EnteredRoom) => RoomEvents): Promise<void> {
    const { rtc } = this.#sdks
    const { log, clock, connectMs } = this.#settings
    const room = new rtc.Room()
    const entered = new LiveKitRoom({
      rtc,
      room,
      caller: seat.identity,
      sampleRateHz,
      clock,
      expel: () => this.#service.removeParticipant(seat.room, seat.identity),
      left: () => void this.#entered.delete(entered),
      failed: (err) => log.warn({ err, room: seat.room }, 'the LiveKit SDK has failed in a room'),
    })
    this.#entered.add(entered)
    try {
      // The time limit is applied here, because the SDK may wait forever if the server does not answer.
      const entering = this.#connect(room, seat.room).then(() => entered.begin(open))
      await within(clock, connectMs, entering, 'the LiveKit room could not be joined in time')
    } catch (error) {
      void entered.leave().catch(() => {})
      throw error
    }
  }

  async delete(room: string): Promise<void> {
    try {
      await this.#service.deleteRoom(room)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#entered].map((entered) => entered.leave()))
  }

  async #connect(room: InstanceType<Sdks['rtc']['Room']>, name: string): Promise<void> {
    const token = this.#token(`agent_${name}`, agentTtlS)
    token.kind = 'agent'
    token.addGrant(join(name))
    await room.connect(this.url, await token.toJwt(), { autoSubscribe: false, dynacast: false })
  }

  #token(identity: string, ttlS: number): Server.AccessToken {
    const { apiKey, apiSecret } = this.#settings
    return new this.#sdks.server.AccessToken(apiKey, apiSecret, { identity, ttl: Math.max(1, ttlS) })
  }
}

const join = (room: string) => ({
  room,
  roomJoin: true,
  canPublish: true,
  canPublishData: true,
  canSubscribe: true,
})

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'not_found'
}
