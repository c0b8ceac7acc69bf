/**
 * One call leg at the simulated carrier.
 *
 *   ringing ──answered──► answered ──► ended
 *      └──────────hangup, time-out──────▲
 *
 * While the leg is answered, its far end is connected to the leg's stream, or to another leg's far end (a bridge).
 */
import { randomUUID } from 'node:crypto'
import type { FarEnd, Line } from './far-ends/far-end.ts'
import type { HangupCause, WebhookFaults } from './far-ends/magic-numbers.ts'
import type { Header } from './fields.ts'
import { lineRateHz, silenceOf } from './media/clip.ts'
import type { SimulatorClock } from './media/clock.ts'
import { MediaStream, type StreamRequest } from './media-stream.ts'
import { queueTo, type WebhookQueue, type Webhooks } from './webhooks.ts'

export type LegDetails = {
  direction: 'incoming' | 'outgoing'
  from: string
  to: string
  connectionId: string
  callSessionId: string
  clientState: string | null
  webhookUrl: string
  faults: WebhookFaults
  headers: readonly Header[]
  /** An incoming call's fields about the forwarding party. */
  forwarding: Readonly<Record<string, string>>
}

export type Hangup = { cause: HangupCause; by: 'caller' | 'callee' | 'unknown'; sipCode: number }
export const normalClearing = (by: Hangup['by']): Hangup => ({ cause: 'normal_clearing', by, sipCode: 200 })

export const cancelled = (by: Hangup['by']): Hangup => ({ cause: 'originator_cancel', by, sipCode: 487 })

export type LegDeps = {
  clock: SimulatorClock
  webhooks: Pick<Webhooks, 'send'>
  newId(): string
  /** Called with each 20 ms frame received by the far end, or with null for silence. */
  received: ReceivedAudio | null
  ended(leg: Leg): void
}

export type ReceivedAudio = (leg: Leg, samples: Int16Array | null, rateHz: number) => void

export class Leg implements Line {
  readonly id: string
  readonly callLegId = randomUUID()
  /** The id of the command that dialled this leg. */
  readonly commandId: string | null
  readonly details: LegDetails
  readonly farEnd: FarEnd
  readonly #deps: LegDeps
  readonly #queue: WebhookQueue
  readonly #timers = new Set<() => void>()
  readonly #commandIds = new Set<string>()
  readonly startedAtMs: number
  #state: 'ringing' | 'answered' | 'ended' = 'ringing'
  #stream: MediaStream | null = null
  #peer: Leg | null = null
  /** The leg dialled for a transfer. After its answer it is connected with this leg. */
  #target: Leg | null = null
  #staysAfterBridge = false
  answeredAtMs: number | null = null
  endedAtMs: number | null = null
  clientState: string | null

  constructor(details: LegDetails, farEnd: FarEnd, deps: LegDeps, commandId: string | null = null) {
    this.details = details
    this.id = deps.newId()
    this.commandId = commandId
    this.farEnd = farEnd
    this.#deps = deps
    this.#queue = queueTo(details.webhookUrl, details.faults)
    this.clientState = details.clientState
    this.startedAtMs = deps.clock.nowMs()
  }

  get state(): 'ringing' | 'answered' | 'ended' {
    return this.#state
  }
  get peer(): Leg | null {
    return this.#peer
  }
  get hasStream(): boolean {
    return this.#stream !== null
  }

  /** Returns false if a command with this id has already been received. */
  isNewCommand(commandId: string | null): boolean {
    if (commandId === null) return true
    if (this.#commandIds.has(commandId)) return false
    if (this.#commandIds.size < commandIdsMax) this.#commandIds.add(commandId)
    return true
  }

  initiate(): void {
    const { direction, headers, forwarding } = this.details
    this.emit('call.initiated', {
      direction,
      state: direction === 'incoming' ? 'parked' : 'bridging',
      start_time: iso(this.startedAtMs),
      ...(direction === 'incoming' && { custom_headers: headers, ...forwarding }),
    })
  }

  answer(stream: StreamRequest | null): void {
    if (this.#state !== 'ringing') return
    this.#state = 'answered'
    this.answeredAtMs = this.#deps.clock.nowMs()
    this.#cancelTimers()
    this.emit('call.answered', { state: 'answered', start_time: iso(this.startedAtMs) })
    if (stream) void this.startStream(stream)
    this.farEnd.answered(this)
  }

  /** Connects the stream to the leg. Never rejects. */
  async startStream(request: StreamRequest): Promise<void> {
    const { from, to, callSessionId } = this.details
    const ids = { call_control_id: this.id, call_session_id: callSessionId, client_state: this.clientState }
    const stream = new MediaStream(request, { ...ids, from, to }, silenceOf(request.format))
    this.#stream = stream
    try {
      await stream.open(() => this.#streamEnded(stream))
      if (this.#stream === stream) this.emit('streaming.started', { stream_url: request.url })
    } catch {
      if (this.#stream !== stream) return
      this.#stream = null
      const params = { stream_url: request.url, track: 'inbound_track' }
      const failed = { failure_reason: 'connection_failed', stream_id: stream.id, stream_type: 'websocket' }
      this.emit('streaming.failed', { ...failed, stream_params: params })
    }
  }

  stopStream(): void {
    const stream = this.#stream
    if (!stream) return
    this.#stream = null
    stream.close()
    this.emit('streaming.stopped', { stream_url: stream.request.url })
  }

  #streamEnded(stream: MediaStream): void {
    if (this.#stream !== stream) return
    this.#stream = null
    this.emit('streaming.stopped', { stream_url: stream.request.url })
  }

  /** Connects both legs. If `stays` is true, this leg is not hung up when the other leg ends. */
  bridge(peer: Leg, stays: boolean): void {
    this.#peer = peer
    this.#staysAfterBridge = stays
    this.emit('call.bridged', {})
    this.farEnd.bridged()
  }

  /** Remembers the leg being dialled for this leg's transfer. If this leg ends first, the dialling stops. */
  dials(target: Leg): void {
    this.#target = target
  }

  end(hangup: Hangup): void {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    this.endedAtMs = this.#deps.clock.nowMs()
    this.#cancelTimers()
    this.farEnd.ended()
    this.stopStream()
    this.emit('call.hangup', {
      state: 'hangup',
      start_time: iso(this.startedAtMs),
      hangup_cause: hangup.cause,
      hangup_source: hangup.by,
      sip_hangup_cause: String(hangup.sipCode),
    })
    const peer = this.#peer
    this.#peer = null
    this.#deps.ended(this)
    peer?.peerLeft(this)
    if (this.#target?.state === 'ringing') this.#target.end(cancelled('caller'))
  }

  peerLeft(peer: Leg): void {
    if (this.#peer !== peer) return
    this.#peer = null
    if (!this.#staysAfterBridge) this.end(normalClearing('unknown'))
  }

  /** Handles a key pressed by the far end. */
  press(digit: string): void {
    if (this.#state !== 'answered') return
    this.emit('call.dtmf.received', { digit })
    this.#stream?.sendDigit(digit, iso(this.#deps.clock.nowMs()))
    this.#peer?.farEnd.pressed(digit)
  }

  hangUp(): void {
    this.end(normalClearing(this.details.direction === 'incoming' ? 'caller' : 'callee'))
  }

  vanish(): void {
    this.hangUp()
  }

  /** Advances the far end by 20 ms. All far ends advance before any frame is played. */
  advance(): void {
    this.farEnd.advance()
  }

  playFrame(): void {
    const { clip, at } = this.farEnd
    const stream = this.#stream
    if (stream?.isOpen) stream.sendAudio(clip?.frames(stream.request.format)[at] ?? null)
    // During a bridge, the stream's audio is consumed at its normal pace without reaching the far end, so its marks are
    // still reported.
    const played = stream?.play() ?? null
    if (this.#peer) {
      const other = this.#peer.farEnd
      this.#receive(other.clip?.samplesAt(other.at) ?? null, lineRateHz)
    } else this.#receive(played, stream?.request.playedFormat?.sampleRateHz ?? lineRateHz)
  }

  #receive(samples: Int16Array | null, rateHz: number): void {
    this.#deps.received?.(this, samples, rateHz)
    this.farEnd.received(samples, rateHz)
  }

  emit(eventType: string, more: object): void {
    const { from, to, connectionId, callSessionId } = this.details
    this.#deps.webhooks.send(this.#queue, eventType, {
      call_control_id: this.id,
      call_leg_id: this.callLegId,
      call_session_id: callSessionId,
      connection_id: connectionId,
      ...(this.clientState !== null && { client_state: this.clientState }),
      from,
      to,
      ...more,
    })
  }

  /** Calls `run` after this time, unless the leg has been answered or has ended. */
  whileRinging(delayMs: number, run: () => void): void {
    if (this.#state === 'ringing') this.#after(delayMs, run)
  }

  whileAnswered(delayMs: number, run: () => void): void {
    if (this.#state === 'answered') this.#after(delayMs, run)
  }

  #after(delayMs: number, run: () => void): void {
    const cancel = this.#deps.clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      run()
    })
    this.#timers.add(cancel)
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }
}

const commandIdsMax = 1000
const iso = (ms: number) => new Date(ms).toISOString()
