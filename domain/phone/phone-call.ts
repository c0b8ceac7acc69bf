/**
 * One phone call in this process, from its first leg event to its end.
 *
 *   dialing ──► ringing ──► answered ──► talking ──► over
 *      │           │            │           ▲
 *      └───────────┴────────────┴── stream ─┘      an end is possible in each state
 *
 * Carriers' events may arrive late, twice and in any order. So a stream also proves that the phone was answered, a
 * status never goes back, and an event in the wrong state is only recorded.
 */
import type { Answering } from '../answering/answering.ts'
import type { PhoneLog } from '../calls/journal.ts'
import type { LiveCall, RegisteredCall } from '../conversation/parts/live-call.ts'
import type { TransferableConversation } from '../conversation/parts/transferable.ts'
import type { StreamFailure } from '../ports/leg-media.ts'
import type { MediaTransport, SessionFault } from '../ports/media.ts'
import {
  type LegEvent,
  type LegRef,
  type MediaEndpoint,
  type PhoneLine,
  PhoneLineError,
  type RejectCode,
} from '../ports/phone-line.ts'
import type { Call } from '../records/call.ts'
import type { Leg, LegHolder } from '../records/leg.ts'
import type { EndReason } from '../records/states/call.ts'
import { answeringOf } from './answer-plan.ts'
import { reasonOfHangup } from './hangup.ts'
import { HeldLeg, type HeldLegDeps } from './held-leg.ts'
import { type LegSink, LegTransport } from './leg-audio.ts'
import { forgetStream } from './leg-name.ts'
import { pressKeys } from './press-keys.ts'
import { recordLegEvent } from './record-leg-event.ts'

export type PhoneCallDeps = HeldLegDeps & {
  /** Called once, when the call is over. */
  over: () => void
}

/** After the person answers, the audio stream must begin within this time. */
const streamMs = 10_000

/** The call's running transfer. */
export type OpenTransfer = {
  /** Called when the caller's leg or the call is over. A second call does nothing. */
  callerLeft(): void
  /** Receives an event from the caller's leg. */
  callerEvent(event: LegEvent): void
}

export class PhoneCall implements LegHolder {
  readonly record: PhoneLog
  readonly #deps: PhoneCallDeps
  #state: 'dialing' | 'ringing' | 'answered' | 'talking' | 'over' = 'dialing'
  readonly #held: HeldLeg
  #registered: RegisteredCall | null = null
  #call: Call
  /** Null for an inbound call, or if the call continues in the same way for a person and a machine. */
  readonly #answering: Answering | null
  readonly #ignoredRegion: { requested_region?: string; region?: null }
  #stream: MediaTransport | null = null
  /** Null until the settings are known. The conversation begins only with settings. */
  #live: LiveCall | null = null
  #cancelWait = () => {}
  #transfer: OpenTransfer | null = null
  #isReleased = false

  constructor(deps: PhoneCallDeps, { call, answerPlan, ignoredRegion: region }: LiveCall, leg: Leg, record: PhoneLog) {
    this.#deps = deps
    this.#ignoredRegion = region === undefined ? {} : { requested_region: region, region: null }
    this.#call = call
    this.#answering = answeringOf(answerPlan, deps.clock, record)
    this.#held = new HeldLeg(deps, leg, () => void this.#streamLost())
    this.record = record
  }

  get leg(): Leg {
    return this.#held.leg
  }

  get call(): Call {
    return this.#call
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** Null before the conversation begins and after its end. */
  get conversation(): TransferableConversation | null {
    return this.#state === 'talking' ? (this.#registered?.conversation ?? null) : null
  }

  /** Null until the carrier has assigned an id to the leg. */
  get ref(): LegRef | null {
    return this.#held.ref
  }

  get line(): PhoneLine {
    return this.#deps.line
  }

  /** Called when a transfer begins. When the call ends, the transfer ends too. */
  transferring(transfer: OpenTransfer): void {
    this.#transfer = transfer
    this.#answering?.giveUp()
    if (this.isOver) transfer.callerLeft()
  }

  /** Called when the carrier has connected the caller with a transfer's recipient. */
  handedOver(): void {
    this.#held.handedOver()
  }

  /** Called when the transfer's recipient has hung up. The transferred call is then over. */
  recipientLeft(): void {
    this.#held.sink.hangUp()
  }

  /** Makes the URL for the leg's audio stream, to which the carrier connects. */
  expectStream(): MediaEndpoint {
    return this.#held.expectStream({
      joined: (stream, carrierLegId) => this.#joined(stream, carrierLegId),
      failed: (reason) => this.#streamFailed(reason),
    })
  }

  /**
   * Called when the call was counted against the session limits. If the call is over already, the call is removed from
   * the count again.
   */
  hold(registered: RegisteredCall): void {
    this.#registered = registered
    if (this.isOver) registered.drop()
  }

  /** Called when the carrier has accepted the dial command. Without an answer in `ringingMs`, the call ends. */
  dialed(carrierLegId: string, ringingMs: number): void {
    this.#named(carrierLegId)
    if (this.#isUnanswered()) this.#wait(ringingMs, () => this.end('no_answer'))
  }

  /** Sets the conversation's settings. The conversation begins when the audio stream begins. */
  configure(live: LiveCall): void {
    this.#live = live
    this.#call = live.call
    this.#begin()
  }

  /** Answers an inbound caller. */
  async answer(): Promise<void> {
    const { ref } = this
    if (ref === null || !this.#isUnanswered()) return
    this.#wait(streamMs, () => this.end('carrier_error'))
    try {
      await this.#deps.line.answer(ref, this.expectStream())
    } catch (error) {
      if (!(error instanceof PhoneLineError)) throw error
      this.#deps.log.warn({ err: error, legId: this.leg.id }, 'a leg was not answered')
      if (error.isGone) this.#hungUp(null, 'lost')
      else this.end('carrier_error')
    }
  }

  /** Refuses an inbound caller. */
  refuse(reason: EndReason, code: RejectCode): void {
    this.#held.refuseWith(code)
    this.end(reason, undefined, code)
  }

  ringing(): void {
    if (this.#state !== 'dialing') return
    this.#state = 'ringing'
    this.record.reached('ringing')
  }

  event(event: LegEvent): void {
    this.#held.showedLife()
    // If the answer to the dial command was lost, this event is the first with the carrier's leg id.
    if (event.type !== 'hangup') this.#named(event.carrierLegId)
    this.#transfer?.callerEvent(event)
    recordLegEvent(this.record, event, { direction: this.leg.direction, ...this.#ignoredRegion })
    if (event.type === 'machine_detection') return this.#answering?.decide(event.result)
    switch (event.type) {
      case 'ringing':
        return this.ringing()
      case 'answered':
        return this.#answered(event.occurredAtMs)
      case 'hangup':
        return this.#hungUp(event.sipCode, event.cause)
      case 'stream_failed':
        return this.#streamFailed('closed')
      case 'initiated':
      case 'bridged':
      case 'dtmf':
      case 'stream_started':
      case 'stream_stopped':
        return
    }
  }

  /** Ends the call before its conversation has begun. Afterwards only the conversation ends the call. */
  end(reason: EndReason, clientReason?: string, sipCode: number | null = null): void {
    if (this.isOver || this.#state === 'talking') return
    this.#close()
    this.#stream?.close(reason, null)
    void this.record.ended(reason, clientReason, sipCode).catch((err: unknown) => {
      this.#deps.log.error({ err, callId: this.leg.callId }, 'the end of a call was not stored')
    })
    this.#registered?.drop()
  }

  /** Ends the call because a defect in this server prevented the start of its conversation. */
  defect(err: unknown): void {
    this.#deps.log.error({ err, callId: this.leg.callId }, 'a call by phone could not begin')
    this.end('pipeline_failed')
  }

  /** Called when the conversation is over. */
  conversationOver(fault: SessionFault | null = null): void {
    // This process is shutting down, but the carrier keeps the two people connected without it.
    if (this.#held.isHandedOver && fault === 'shutting_down') this.#isReleased = true
    if (!this.isOver) this.#close()
  }

  /** Asks the carrier if the leg still exists, after a long time without events and audio. */
  async look(): Promise<void> {
    if (this.#held.mayBeOver()) await this.#askWhetherAlive()
  }

  #answered(atMs: number): void {
    this.#answering?.answered()
    this.#held.answered(atMs)
    if (!this.#isUnanswered()) return
    this.#state = 'answered'
    this.#wait(streamMs, () => this.end('carrier_error'))
  }

  #joined(stream: MediaTransport, carrierLegId: string | undefined): LegSink {
    if (carrierLegId !== undefined) this.#named(carrierLegId)
    if (this.isOver) stream.close('carrier_error', null)
    else {
      this.#stream = stream
      this.#answered(this.#deps.clock.nowMs())
      this.#cancelWait()
      this.#begin()
    }
    return this.#held.sink
  }

  /** Begins the conversation if the call is registered, has settings and has a stream. */
  #begin(): void {
    const [registered, live, stream] = [this.#registered, this.#live, this.#stream]
    if (registered === null || live === null || stream === null || this.isOver || this.#state === 'talking') return
    this.#state = 'talking'
    try {
      const transport = new LegTransport(stream, {
        pressKeys: (digits) => pressKeys(this.#deps, this.leg.id, this.isOver ? null : this.ref, digits),
        over: (fault) => this.conversationOver(fault),
      })
      const observer = this.#answering && { observer: this.#answering.observer }
      this.#held.sink.begin(registered.begin({ ...live, ...observer, log: this.record }, transport))
      if (registered.conversation) this.#answering?.begin(registered.conversation, live.call.pipeline)
    } catch (err) {
      this.#state = 'answered'
      this.defect(err)
    }
  }

  #streamFailed(reason: StreamFailure): void {
    if (this.#state !== 'talking') this.record.line('carrier.stream_failed', { reason })
    this.end('carrier_error')
  }

  /** Handles the end of the leg's stream. If the leg is connected but has no conversation, the call fails. */
  async #streamLost(): Promise<void> {
    if (this.#state !== 'talking') this.#stream = null
    await this.#askWhetherAlive()
    if (this.isOver || this.#state === 'talking') return
    this.#streamFailed('closed')
  }

  #hungUp(sipCode: number | null, cause: string): void {
    this.#held.hungUp()
    if (this.#state === 'talking') return this.#held.sink.hangUp()
    if (this.leg.direction === 'inbound') return this.end('user_hangup', undefined, sipCode)
    if (this.#state !== 'answered') return this.end(reasonOfHangup(sipCode, cause), undefined, sipCode)
    // The person answered, but left before the stream began.
    this.record.connected()
    this.end('user_hangup', undefined, sipCode)
  }

  async #askWhetherAlive(): Promise<void> {
    if (this.isOver) return
    if ((await this.#held.isGone()) && !this.isOver) this.#hungUp(null, 'lost')
  }

  #named(carrierLegId: string): void {
    if (this.#held.named(carrierLegId) && this.isOver) this.#held.hangUp()
  }

  #close(): void {
    this.#state = 'over'
    this.#cancelWait()
    this.#answering?.close()
    forgetStream(this.#deps, this.leg, this.ref !== null)
    if (!this.#isReleased) {
      this.#held.hangUp()
      this.#transfer?.callerLeft()
    }
    this.#deps.over()
  }

  #isUnanswered(): boolean {
    return this.#state === 'dialing' || this.#state === 'ringing'
  }

  #wait(delayMs: number, run: () => void): void {
    this.#cancelWait()
    this.#cancelWait = this.#deps.clock.after(delayMs, run)
  }
}
