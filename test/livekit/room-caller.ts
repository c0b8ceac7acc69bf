/**
 * Acts as a caller in a LiveKit room, in real time, with LiveKit's SDK: recorded voices replace the microphone. It
 * records sent and received audio on one clock.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  type RemoteTrack,
  Room,
  RoomEvent,
  TrackPublishOptions,
  TrackSource,
} from '@livekit/rtc-node'
import { call } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'
import type { Voices } from '../session/recorded-call.ts'
import type { Shown } from '../session/voice-caller.ts'

export const callerRateHz = 16_000
const frameMs = 20
const samplesPerMs = callerRateHz / 1000
const samplesInFrame = frameMs * samplesPerMs
/** The SDK buffers this much audio from the microphone, so a late timer causes no gap. */
const queueMs = 200

export type Ticket = {
  sessionId: string
  transport: string
  transportUrl: string
  transportToken: string
  roomName: string
  identity: string
  expiresAt: string
}

export async function ticketOf(target: Target, settings: object): Promise<Ticket> {
  const wanted = { intent: { language: 'en' }, recording: true, transport: 'livekit', ...settings }
  const answer = await call(target, 'POST', '/v1/sessions', {
    ...wanted,
    ttsOptions: { sampleRate: callerRateHz },
  })
  if (answer.status !== 201) throw new Error(`a session was answered ${answer.status}: ${answer.text}`)
  return answer.json<Ticket>()
}

export class RoomCaller {
  readonly ticket: Ticket
  readonly shown: Shown[] = []
  readonly startedMs = performance.now()
  readonly #room = new Room()
  readonly #source = new AudioSource(callerRateHz, 1, queueMs + frameMs)
  readonly #arrived: { atMs: number; samples: Int16Array }[] = []
  readonly #said: { atMs: number; frame: Int16Array }[] = []
  #words: Int16Array[] = []
  #spoken = 0
  #dueMs = this.startedMs
  #timer: NodeJS.Timeout | undefined
  #wake: () => void = () => {}
  #disconnected = false

  static async join(target: Target, settings: object): Promise<RoomCaller> {
    return RoomCaller.enter(await ticketOf(target, settings))
  }

  static async enter(ticket: Ticket, first: object[] = []): Promise<RoomCaller> {
    const caller = new RoomCaller(ticket)
    const agentIsThere = once(caller.#room, RoomEvent.TrackSubscribed)
    await caller.#connect()
    if (first.length > 0) await agentIsThere
    for (const frame of first) await caller.send(frame)
    await caller.shows(({ type }) => type === 'ready')
    return caller
  }

  private constructor(ticket: Ticket) {
    this.ticket = ticket
    this.#room.on(RoomEvent.DataReceived, (bytes) => this.#text(bytes))
    this.#room.on(RoomEvent.TrackSubscribed, (track) => void this.#listen(track))
    this.#room.on(RoomEvent.Disconnected, () => {
      this.#disconnected = true
      clearInterval(this.#timer)
      this.#wake()
    })
  }

  get sessionId(): string {
    return this.ticket.sessionId
  }

  get isDisconnected(): boolean {
    return this.#disconnected
  }

  async shows(fits: (shown: Shown) => boolean, { from = 0, withinMs = 20_000 } = {}): Promise<Shown> {
    for (const dueMs = performance.now() + withinMs; ; ) {
      const found = this.shown.slice(from).find(fits)
      if (found !== undefined) return found
      const types = JSON.stringify(this.shown.slice(-8))
      if (this.#disconnected) throw new Error(`the room was left first; last frames: ${types}`)
      if (performance.now() > dueMs) throw new Error(`no such frame in ${withinMs} ms; last frames: ${types}`)
      await Promise.race([new Promise<void>((resolve) => (this.#wake = resolve)), sleep(100)])
    }
  }

  /** Speaks at once. Resolves when the last sample has left the microphone's buffer. */
  async say(voice: Int16Array): Promise<void> {
    for (let at = 0; at < voice.length; at += samplesInFrame) {
      const frame = new Int16Array(samplesInFrame)
      frame.set(voice.subarray(at, at + samplesInFrame))
      this.#words.push(frame)
    }
    const last = this.#spoken + this.#words.length
    while (this.#spoken < last && !this.#disconnected) await sleep(10)
  }

  async ask(voice: Int16Array): Promise<void> {
    const from = this.shown.length
    await this.say(voice)
    await this.shows(({ type, isFinal }) => type === 'agent_message' && isFinal === true, { from })
  }

  async send(frame: object): Promise<void> {
    const bytes = new TextEncoder().encode(JSON.stringify(frame))
    await this.#room.localParticipant?.publishData(bytes, { reliable: true })
  }

  /** Returns both voices on the caller's clock. */
  voices(): Voices {
    const length = Math.ceil((performance.now() - this.startedMs + 1000) * samplesPerMs)
    const agent = new Int16Array(length)
    const caller = new Int16Array(length)
    const at = (ms: number) => Math.max(0, Math.round((ms - this.startedMs) * samplesPerMs))
    // The stream has no gaps, but its frames come in bunches, so only the first frame's time counts.
    let next = at(this.#arrived[0]?.atMs ?? 0)
    for (const { atMs, samples } of this.#arrived) {
      if (at(atMs) - next > gapMax) next = at(atMs)
      agent.set(samples, next)
      next += samples.length
    }
    for (const { atMs, frame } of this.#said) caller.set(frame, at(atMs + queueMs))
    return { caller, agent }
  }

  async hangUp(): Promise<void> {
    await this.send({ type: 'end' })
    await this.left()
  }

  /** Resolves when the server has removed the caller. */
  async left(withinMs = 10_000): Promise<void> {
    for (const dueMs = performance.now() + withinMs; !this.#disconnected; await sleep(20))
      if (performance.now() > dueMs) throw new Error('the caller is still in the room')
  }

  /** Leaves the room without a message. */
  async leave(): Promise<void> {
    await this.#room.disconnect()
  }

  async #connect(): Promise<void> {
    const { transportUrl, transportToken } = this.ticket
    await this.#room.connect(transportUrl, transportToken, { autoSubscribe: true, dynacast: false })
    const track = LocalAudioTrack.createAudioTrack('microphone', this.#source)
    const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE })
    await this.#room.localParticipant?.publishTrack(track, options)
    this.#dueMs = performance.now() - queueMs
    this.#timer = setInterval(() => this.#tick(), 5)
  }

  #tick(): void {
    for (const nowMs = performance.now(); this.#dueMs <= nowMs; this.#dueMs += frameMs) {
      const frame = this.#words.shift()
      if (frame !== undefined) {
        this.#spoken++
        this.#said.push({ atMs: this.#dueMs, frame: frame.slice() })
      }
      const samples = frame ?? new Int16Array(samplesInFrame)
      this.#source.captureFrame(new AudioFrame(samples, callerRateHz, 1, samples.length)).catch(() => {})
    }
  }

  async #listen(track: RemoteTrack): Promise<void> {
    const stream = new AudioStream(track, { sampleRate: callerRateHz, numChannels: 1, frameSizeMs: 10 })
    for await (const { data } of stream) this.#arrived.push({ atMs: performance.now(), samples: data })
  }

  #text(bytes: Uint8Array): void {
    this.shown.push({ ...(JSON.parse(Buffer.from(bytes).toString()) as Shown), atMs: performance.now() })
    this.#wake()
  }
}

/** A longer pause in the stream means that the track has paused. */
const gapMax = 300 * samplesPerMs
