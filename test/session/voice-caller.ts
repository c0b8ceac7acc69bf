/**
 * A caller who talks to an agent over the real media channel, in real time. Recorded voices are the microphone, and the
 * page's jitter buffer plays the received audio. It keeps all sent and played audio, with each sample's time.
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { Playout } from '../../console/session/playout.js'
import { call } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'
import type { Voices } from './recorded-call.ts'

/** A text frame from the channel, with its arrival time. */
export type Shown = { atMs: number; type: string } & Record<string, unknown>

export const callerRateHz = 16_000
const microphoneMs = 20
/** The audio device requests blocks of this length. */
const blockMs = 10
const samplesPerMs = callerRateHz / 1000
const silence = new Int16Array(microphoneMs * samplesPerMs)

export class VoiceCaller {
  readonly sessionId: string
  readonly shown: Shown[] = []
  /** The played blocks, without a gap, like the microphone's frames. */
  readonly #played: { atMs: number; block: Float32Array }[] = []
  readonly #spokenFrames: Int16Array[] = []
  readonly #socket: WebSocket
  readonly #playout: Playout
  readonly #timer: NodeJS.Timeout
  #words: Int16Array[] = []
  #spoken = 0
  /** The start time for the tracks in `voices`. */
  readonly startedMs = performance.now()
  #dueMs = this.startedMs
  #blocks = 0
  #wake: () => void = () => {}
  #isClosed = false

  /** Joins a new session with these settings. */
  static async join(target: Target, settings: object): Promise<VoiceCaller> {
    const wanted = { intent: { language: 'en' }, recording: true, ...settings }
    const answer = await call(target, 'POST', '/v1/sessions', {
      ...wanted,
      ttsOptions: { sampleRate: callerRateHz },
    })
    if (answer.status !== 201) throw new Error(`a session was answered ${answer.status}: ${answer.text}`)
    const { sessionId, transportToken } = answer.json<{ sessionId: string; transportToken: string }>()
    const url = `${target.url.replace('http', 'ws')}/v1/sessions/${sessionId}/media`
    const socket = new WebSocket(url, ['service.session.v1', `service.ephemeral.${transportToken}`])
    const caller = new VoiceCaller(socket, sessionId)
    await once(socket, 'open')
    await caller.shows(({ type }) => type === 'ready')
    return caller
  }

  private constructor(socket: WebSocket, sessionId: string) {
    this.#socket = socket
    this.sessionId = sessionId
    this.#playout = new Playout({
      fromHz: callerRateHz,
      toHz: callerRateHz,
      onPlayed: (mark) => this.#send({ type: 'played', mark }),
    })
    socket.on('message', (data: Buffer, isBinary) => (isBinary ? this.#audio(data) : this.#text(data)))
    socket.on('close', () => {
      this.#isClosed = true
      clearInterval(this.#timer)
      this.#wake()
    })
    this.#timer = setInterval(() => this.#tick(), 5)
  }

  /**
   * Resolves with the first matching frame at or after the index `from` in `shown`. The frame may have come already.
   * Rejects if no such frame comes.
   */
  async shows(fits: (shown: Shown) => boolean, { from = 0, withinMs = 20_000 } = {}): Promise<Shown> {
    for (const dueMs = performance.now() + withinMs; ; ) {
      const found = this.shown.slice(from).find(fits)
      if (found !== undefined) return found
      const types = JSON.stringify(this.shown.slice(-8))
      if (this.#isClosed) throw new Error(`the session ended first; last frames: ${types}`)
      if (performance.now() > dueMs) throw new Error(`no such frame in ${withinMs} ms; last frames: ${types}`)
      await Promise.race([new Promise<void>((resolve) => (this.#wake = resolve)), sleep(100)])
    }
  }

  /** Speaks at once. Resolves with the last sample's time. */
  async say(voice: Int16Array): Promise<number> {
    for (let at = 0; at < voice.length; at += silence.length) {
      const frame = new Int16Array(silence.length)
      frame.set(voice.subarray(at, at + silence.length))
      this.#words.push(frame)
    }
    const last = this.#spoken + this.#words.length
    while (this.#spoken < last && !this.#isClosed) await sleep(10)
    return performance.now()
  }

  /** Asks, and waits until the whole answer was played. */
  async ask(voice: Int16Array): Promise<void> {
    const from = this.shown.length
    await this.say(voice)
    await this.shows(({ type, isFinal }) => type === 'agent_message' && isFinal === true, { from })
  }

  /** Returns both voices on the caller's clock. A microphone frame ends at the time when it is sent. */
  voices(): Voices {
    const length = (this.#played.length * blockMs + microphoneMs) * samplesPerMs
    const agent = new Int16Array(length)
    const caller = new Int16Array(length)
    for (const [at, { block }] of this.#played.entries())
      agent.set(
        Int16Array.from(block, (sample) => Math.round(sample * 32_768)),
        at * block.length + microphoneMs * samplesPerMs,
      )
    for (const [at, frame] of this.#spokenFrames.entries()) caller.set(frame, at * frame.length)
    return { caller, agent }
  }

  async hangUp(): Promise<void> {
    const closed = once(this.#socket, 'close')
    this.#send({ type: 'end' })
    await closed
  }

  /** Sends all due frames. The timer is sometimes late, so the clock decides and not the number of calls. */
  #tick(): void {
    const nowMs = performance.now()
    for (; this.#dueMs <= nowMs; this.#dueMs += blockMs) {
      const block = new Float32Array(blockMs * samplesPerMs)
      this.#playout.pull(block)
      this.#played.push({ atMs: this.#dueMs, block })
      if (this.#blocks++ % (microphoneMs / blockMs) === 0) this.#microphone()
    }
  }

  #microphone(): void {
    const frame = this.#words.shift()
    if (frame !== undefined) this.#spoken++
    this.#spokenFrames.push(frame ?? silence)
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(frame ?? silence)
  }

  #audio(data: Buffer): void {
    this.#playout.push(new Int16Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length)))
  }

  #text(data: Buffer): void {
    const frame: Shown = { ...(JSON.parse(data.toString()) as Shown), atMs: performance.now() }
    this.shown.push(frame)
    if (frame.type === 'mark') this.#playout.mark(String(frame['name']))
    if (frame.type === 'clear') this.#send({ type: 'played', ...this.#playout.clear(), cleared: true })
    this.#wake()
  }

  #send(frame: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame))
  }
}
