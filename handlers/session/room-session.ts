/**
 * A session in a room, while this process is in the room. Each time the caller joins the room, a media socket is made
 * as for a WebSocket. So if a caller's connection is lost and comes back, the session resumes as it does over a
 * WebSocket.
 *
 *   empty ──joined──► media ──left──► empty ──the session is over──► gone
 *                       └──closed──► farewell ──► empty
 */

import { grantOf, type WatchGrant } from '../../domain/access/revocations.ts'
import type { RoomOccupant } from '../../domain/calls/live/room-watch.ts'
import type { SessionOwnership, SessionSeat } from '../../domain/calls/live/seats.ts'
import type { EnteredRoom, MediaRooms, RoomEvents } from '../../domain/ports/media-rooms.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { tenantOf } from '../../domain/records/organization.ts'
import { sessionSurface } from '../../generated/session/channels.ts'
import { takeText } from '../../runtime/ws/frames.ts'
import { accessOf } from '../contract-access.ts'
import { MediaSocket, type MediaSocketDeps } from './media-socket.ts'
import { RoomAudio, type RoomAudioWatch } from './room-audio.ts'
import { RoomSocket } from './room-socket.ts'

export type RoomSessionDeps = MediaSocketDeps & {
  rooms: Pick<MediaRooms, 'delete'>
  sessions: SessionOwnership
  audioWatch: RoomAudioWatch
  requestId: () => string
  watchGrant: WatchGrant
}

/** The caller is removed this long after a media socket's last frame, because the frame is still on its way. */
const farewellMs = 500
/** If the room has not announced the caller after this time, the caller left before the agent joined. */
const arrivalMs = 2000
const [channel] = sessionSurface.channels
export const access = accessOf(sessionSurface.channels, 'sessionMedia')

export class RoomSession implements RoomEvents, RoomOccupant {
  readonly #deps: RoomSessionDeps
  readonly #caller: Caller
  readonly #seat: SessionSeat
  readonly #name: string
  readonly #room: EnteredRoom
  #media: MediaSocket | null = null
  #audio: RoomAudio | null = null
  #cancelFarewell: (() => void) | null = null
  /** True if a conversation has begun. Then no other process can claim the session. */
  #hasBegun = false
  #isGone = false
  readonly #enteredMs: number
  readonly #unwatch: () => void

  constructor(deps: RoomSessionDeps, caller: Caller, seat: SessionSeat, name: string, room: EnteredRoom) {
    this.#deps = deps
    this.#caller = caller
    this.#seat = seat
    this.#name = name
    this.#room = room
    this.#enteredMs = deps.clock.monotonicMs()
    this.#unwatch = deps.watchGrant(grantOf(caller, access), () => this.#revoked())
  }

  joined(): void {
    this.left()
    const { sessions, clock, audioWatch } = this.#deps
    const { sessionId, sampleRate } = this.#seat
    const socket = new RoomSocket(this.#room, {
      slow: () => this.#media?.onSlowReader(),
      closed: () => this.#closed(),
      failed: (error) => this.#failed(error),
    })
    const seat = { ...this.#seat, isJoined: this.#seat.isJoined || sessions.isLive(sessionId) }
    const context = { requestId: this.#deps.requestId(), caller: seat }
    this.#media = new MediaSocket(this.#deps, socket, context, (events) => {
      const deps = { clock, watch: audioWatch, failed: (error: unknown) => this.#failed(error) }
      this.#audio = new RoomAudio(deps, this.#room, sampleRate, events)
      return this.#audio
    })
  }

  left(): void {
    this.#noteBegun()
    this.#cancelFarewell?.()
    this.#cancelFarewell = null
    const media = this.#media
    this.#media = null
    this.#audio?.close()
    this.#audio = null
    media?.onGone()
  }

  text(text: string): void {
    const media = this.#media
    if (media !== null && channel !== undefined) this.#guarded(() => takeText(channel, media, text))
  }

  /**
   * Passes on the microphone's audio, but only after `ready`. The client may override settings with its first frame.
   * Audio before `ready` would count as this first frame, and would end the wait for the overrides.
   */
  audio(samples: Int16Array): void {
    if (this.#media?.isLive !== true) return
    const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
    this.#guarded(() => this.#media?.onBytes(bytes))
  }

  lost(): void {
    this.left()
    this.#isGone = true
    this.#unwatch()
    void this.#room.leave().catch((error: unknown) => this.#failed(error))
    this.#giveBack()
  }

  /** Closes the room if the session is over. Returns false when this process has left the room. */
  look(): boolean {
    this.#noteBegun()
    const { sessions, clock } = this.#deps
    const isEmpty = this.#media === null && this.#cancelFarewell === null
    const isExpected = !this.#hasBegun && clock.monotonicMs() - this.#enteredMs < arrivalMs
    const isOver = isEmpty && !isExpected && !sessions.isLive(this.#seat.sessionId)
    if (!this.#isGone && isOver) void this.close()
    return !this.#isGone
  }

  /** Ends the room for all participants. Never rejects. */
  async close(): Promise<void> {
    if (this.#isGone) return
    this.#isGone = true
    this.#unwatch()
    const isFarewell = this.#cancelFarewell !== null
    this.left()
    try {
      if (isFarewell) await new Promise<void>((resolve) => this.#deps.clock.after(farewellMs, resolve))
      await this.#deps.rooms.delete(this.#name)
    } catch (error) {
      this.#failed(error)
    }
    await this.#room.leave().catch((error: unknown) => this.#failed(error))
    this.#giveBack()
  }

  /**
   * Ends the media socket and the room. The token for the room is valid for longer, so the caller could otherwise join
   * again. The socket reports its end in a microtask, and the room waits for the socket's last frame.
   */
  #revoked(): void {
    this.#media?.onRevoked()
    queueMicrotask(() => void this.close())
  }

  /** Removes the caller a moment after the media socket has sent its last frame. */
  #closed(): void {
    this.left()
    this.#cancelFarewell = this.#deps.clock.after(farewellMs, () => {
      this.#cancelFarewell = null
      this.#room.expel().catch((error: unknown) => this.#failed(error))
    })
  }

  /** Releases the session if no caller has joined it. Any process can then claim it. */
  #giveBack(): void {
    this.#noteBegun()
    if (!this.#hasBegun) void this.#deps.sessions.letGo(tenantOf(this.#caller), this.#seat.sessionId)
  }

  #noteBegun(): void {
    if (this.#deps.sessions.isLive(this.#seat.sessionId)) this.#hasBegun = true
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#failed(error)
      this.#closed()
    }
  }

  #failed(err: unknown): void {
    this.#deps.log.warn({ err, sessionId: this.#seat.sessionId }, 'the room of a session has failed')
  }
}
