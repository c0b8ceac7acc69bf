/** One LiveKit room with the agent in it. */
import type * as Rtc from '@livekit/rtc-node'
import type { EnteredRoom, RoomEvents } from '../../domain/ports/media-rooms.ts'
import type { Clock } from '../../domain/ports/system.ts'

export type RoomParts = {
  rtc: typeof Rtc
  room: Rtc.Room
  /** The caller's participant identity in LiveKit. */
  caller: string
  sampleRateHz: number
  clock: Clock
  expel: () => Promise<void>
  left: () => void
  /** Called with errors from SDK functions that are called without `await`. */
  failed: (error: unknown) => void
}

/** The length of the SDK's queue for audio to be sent. A queue with only 20 ms runs empty while the process is busy. */
export const queueMs = 100
const frameMs = 20
/**
 * A caller is announced when its microphone track arrives, or this long after joining, because some callers have no
 * microphone.
 */
const microphoneMs = 500

export class LiveKitRoom implements EnteredRoom {
  readonly #parts: RoomParts
  readonly #source: Rtc.AudioSource
  readonly #encoder = new TextEncoder()
  #events: RoomEvents | null = null
  /** The caller's newest audio track. Only this track is read. */
  #track: Rtc.RemoteTrack | null = null
  /** Cancels the wait for a joined caller's microphone. */
  #cancelWait: (() => void) | null = null
  #hasLeft = false

  constructor(parts: RoomParts) {
    this.#parts = parts
    this.#source = new parts.rtc.AudioSource(parts.sampleRateHz, 1, queueMs)
    const { room, caller, rtc } = parts
    const { RoomEvent } = rtc
    const isCaller = (participant: Rtc.Participant | undefined) => participant?.identity === caller
    room.on(RoomEvent.ParticipantConnected, (participant) => {
      if (isCaller(participant)) this.#awaitMicrophone()
    })
    room.on(RoomEvent.ParticipantDisconnected, (participant) => {
      if (isCaller(participant)) this.#left()
    })
    room.on(RoomEvent.TrackPublished, (publication, participant) => {
      if (isCaller(participant)) this.#subscribe(publication)
    })
    room.on(RoomEvent.TrackSubscribed, (track, _publication, participant) => {
      if (isCaller(participant)) void this.#listen(track).catch(parts.failed)
    })
    room.on(RoomEvent.TrackUnsubscribed, (track) => {
      if (this.#track === track) this.#track = null
    })
    room.on(RoomEvent.DataReceived, (bytes, participant, _kind, topic) => {
      if (isCaller(participant) && !topic) this.#text(bytes)
    })
    room.on(RoomEvent.Disconnected, () => {
      this.#stopWait()
      if (!this.#hasLeft) this.#events?.lost()
    })
  }

  /** Publishes the agent's audio track. Called when the room is connected; the caller may already be in the room. */
  async begin(open: (room: EnteredRoom) => RoomEvents): Promise<void> {
    const { rtc, room, caller } = this.#parts
    // The room was connected too late: the calling code has stopped waiting.
    if (this.#hasLeft) return room.disconnect()
    const track = rtc.LocalAudioTrack.createAudioTrack('agent', this.#source)
    const options = new rtc.TrackPublishOptions({ source: rtc.TrackSource.SOURCE_MICROPHONE })
    await room.localParticipant?.publishTrack(track, options)
    if (this.#hasLeft) return
    this.#events = open(this)
    const participant = room.remoteParticipants.get(caller)
    if (participant === undefined) return
    this.#awaitMicrophone()
    for (const publication of participant.trackPublications.values()) this.#subscribe(publication)
  }

  async send(text: string): Promise<void> {
    const { room, caller } = this.#parts
    if (this.#hasLeft) return
    // The bytes must begin at their buffer's start, because the SDK passes a pointer to the whole buffer.
    const bytes = this.#encoder.encode(text)
    await room.localParticipant?.publishData(bytes, { reliable: true, destination_identities: [caller] })
  }

  async play(samples: Int16Array): Promise<void> {
    const { rtc, sampleRateHz } = this.#parts
    if (this.#hasLeft) return
    await this.#source.captureFrame(new rtc.AudioFrame(samples, sampleRateHz, 1, samples.length))
  }

  drop(): void {
    if (!this.#hasLeft) this.#source.clearQueue()
  }

  expel(): Promise<void> {
    return this.#hasLeft ? Promise.resolve() : this.#parts.expel()
  }

  async leave(): Promise<void> {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#track = null
    this.#stopWait()
    this.#parts.left()
    await this.#parts.room.disconnect()
    await this.#source.close()
  }

  #awaitMicrophone(): void {
    this.#stopWait()
    this.#cancelWait = this.#parts.clock.after(microphoneMs, () => this.#announce())
  }

  /** Announces the joined caller before its first text or audio is read, so no input is lost. */
  #announce(): void {
    if (this.#cancelWait === null) return
    this.#stopWait()
    this.#events?.joined()
  }

  #stopWait(): void {
    this.#cancelWait?.()
    this.#cancelWait = null
  }

  #left(): void {
    const isAnnounced = this.#cancelWait === null
    this.#stopWait()
    if (isAnnounced) this.#events?.left()
  }

  #text(bytes: Uint8Array): void {
    this.#announce()
    this.#events?.text(Buffer.from(bytes).toString('utf8'))
  }

  #subscribe(publication: Rtc.RemoteTrackPublication): void {
    if (publication.kind === this.#parts.rtc.TrackKind.KIND_AUDIO) publication.setSubscribed(true)
  }

  async #listen(track: Rtc.RemoteTrack): Promise<void> {
    const { rtc, sampleRateHz } = this.#parts
    this.#track = track
    const stream = new rtc.AudioStream(track, { sampleRate: sampleRateHz, numChannels: 1, frameSizeMs: frameMs })
    this.#announce()
    for await (const frame of stream) {
      if (this.#track !== track) return
      this.#events?.audio(frame.data)
    }
  }
}
