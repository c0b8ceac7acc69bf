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
import type { LegMedia, StreamFailure } from '../ports/leg-media.ts'
import type { MediaTransport, SessionFault } from '../ports/media.ts'
import {
  type LegEvent,
  type LegRef,
  type MediaEndpoint,
  type PhoneLine,
  PhoneLineError,
  type RejectCode,
} from '../ports/phone-line.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { Call } from '../records/call.ts'
import { type Leg, type LegHolder, type LegStore, mayBeOver, refOf } from '../records/leg.ts'
import type { EndReason } from '../records/states/call.ts'
import { answeringOf } from './answer-plan.ts'
import { hangUpLeg, refuseOrHangUp } from './hang-up-leg.ts'
import { reasonOfHangup } from './hangup.ts'
import { LegSink, LegTransport } from './leg-audio.ts'
import { forgetStream, storeLegName } from './leg-name.ts'
import { pressKeys } from './press-keys.ts'
import { recordLegEvent } from './record-leg-event.ts'

export type PhoneCallDeps = {
  line: PhoneLine
  media: LegMedia
  legs: Pick<LegStore, 'dialed' | 'answered' | 'ended'>
  clock: Clock
  log: Log
  /** Called once, when the call is over. */
  over: () => void
}

/** After the person answers, the audio stream must begin within this time. */
const streamMs = 10_000
/** The conversation's sample rate. Phone audio never has a higher rate. */
const sampleRateHz = 16_000

/** The call's running transfer. */
export type OpenTransfer = {
  /** Called when the caller's leg or the call is over. A second call does nothing. */
  callerLeft(): void
  /** Receives an event from the caller's leg. */
  callerEvent(event: LegEvent): void
}

export class PhoneCall implements LegHolder {
  readonly leg: Leg
  readonly record: PhoneLog
  readonly #deps: PhoneCallDeps
  #state: 'dialing' | 'ringing' | 'answered' | 'talking' | 'over' = 'dialing'
  #ref: LegRef | null
  #registered: RegisteredCall | null = null
  #call: Call
  /** Null for an inbound call, or if the call continues in the same way for a person and a machine. */
  readonly #answering: Answering | null
  readonly #ignoredRegion: { requested_region?: string; region?: null }
  #stream: MediaTransport | null = null
  /** Null until the settings are known. The conversation begins only with settings. */
  #live: LiveCall | null = null
  readonly #sink = new LegSink(() => void this.#streamLost())
  #cancelWait = () => {}
  #signMs: number
  #hasHungUp = false
  /** The SIP code for refusing an inbound caller. Null if the leg must be hung up. */
  #rejectCode: RejectCode | null = null
  #transfer: OpenTransfer | null = null
  /** True if the carrier has connected the caller with a transfer's recipient. */
  #isHandedOver = false
  #isReleased = false

  constructor(deps: PhoneCallDeps, { call, answerPlan, ignoredRegion: region }: LiveCall, leg: Leg, record: PhoneLog) {
    this.#deps = deps
    this.#ignoredRegion = region === undefined ? {} : { requested_region: region, region: null }
    this.#call = call
    this.#answering = answeringOf(answerPlan, deps.clock, record)
    this.leg = leg
    this.record = record
    this.#ref = refOf(leg)
    this.#signMs = deps.clock.monotonicMs()
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
    return this.#ref
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
    this.#isHandedOver = true
    this.#sink.handOver()
  }

  /** Called when the transfer's recipient has hung up. The transferred call is then over. */
  recipientLeft(): void {
    this.#sink.hangUp()
  }

  /** Makes the URL for the leg's audio stream, to which the carrier connects. */
  expectStream(): MediaEndpoint {
    const { media } = this.#deps
    return media.expect({
      legId: this.leg.id,
      organizationId: this.leg.organizationId,
      line: this.leg.line,
      sampleRateHz,
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
    if (this.#ref === null || !this.#isUnanswered()) return
    this.#wait(streamMs, () => this.end('carrier_error'))
    try {
      await this.#deps.line.answer(this.#ref, this.expectStream())
    } catch (error) {
      if (!(error instanceof PhoneLineError)) throw error
      this.#deps.log.warn({ err: error, legId: this.leg.id }, 'a leg was not answered')
      if (error.isGone) this.#hungUp(null, 'lost')
      else this.end('carrier_error')
    }
  }

  /** Refuses an inbound caller. */
  refuse(reason: EndReason, code: RejectCode): void {
    this.#rejectCode = code
    this.end(reason, undefined, code)
  }

  ringing(): void {
    if (this.#state !== 'dialing') return
    this.#state = 'ringing'
    this.record.reached('ringing')
  }

  event(event: LegEvent): void {
    this.#signMs = this.#deps.clock.monotonicMs()
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
    if (this.#isHandedOver && fault === 'shutting_down') this.#isReleased = true
    if (!this.isOver) this.#close()
  }

  /** Asks the carrier if the leg still exists, after a long time without events and audio. */
  async look(): Promise<void> {
    const { clock } = this.#deps
    if (this.#sink.hasAudio) this.#signMs = clock.monotonicMs()
    this.#sink.hasAudio = false
    if (mayBeOver(clock.monotonicMs() - this.#signMs, this.#isHandedOver)) await this.#askWhetherAlive()
  }

  #answered(atMs: number): void {
    this.#answering?.answered()
    void this.#deps.legs.answered(this.leg, atMs).catch((err: unknown) => this.#unstored(err))
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
    return this.#sink
  }

  /** Begins the conversation if the call is registered, has settings and has a stream. */
  #begin(): void {
    const [registered, live, stream] = [this.#registered, this.#live, this.#stream]
    if (registered === null || live === null || stream === null || this.isOver || this.#state === 'talking') return
    this.#state = 'talking'
    try {
      const transport = new LegTransport(stream, {
        pressKeys: (digits) => pressKeys(this.#deps, this.leg.id, this.isOver ? null : this.#ref, digits),
        over: (fault) => this.conversationOver(fault),
      })
      const observer = this.#answering && { observer: this.#answering.observer }
      this.#sink.begin(registered.begin({ ...live, ...observer, log: this.record }, transport))
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
    this.#hasHungUp = true
    this.#legEnded()
    if (this.#state === 'talking') return this.#sink.hangUp()
    if (this.leg.direction === 'inbound') return this.end('user_hangup', undefined, sipCode)
    if (this.#state !== 'answered') return this.end(reasonOfHangup(sipCode, cause), undefined, sipCode)
    // The person answered, but left before the stream began.
    this.record.connected()
    this.end('user_hangup', undefined, sipCode)
  }

  async #askWhetherAlive(): Promise<void> {
    const { line, log } = this.#deps
    if (this.#ref === null || this.isOver) return
    try {
      if (await line.isAlive(this.#ref)) return
    } catch (err) {
      return log.warn({ err, legId: this.leg.id }, 'a line did not say whether a leg lives')
    }
    if (!this.isOver) this.#hungUp(null, 'lost')
  }

  /** Stores the carrier's leg id. From now on the leg can be hung up. */
  #named(carrierLegId: string): void {
    if (this.#ref !== null) return
    this.#ref = { legId: this.leg.id, carrierLegId }
    void storeLegName(this.#deps, this.leg, carrierLegId)
    if (this.isOver) this.#hangUp()
  }

  #close(): void {
    this.#state = 'over'
    this.#cancelWait()
    this.#answering?.close()
    forgetStream(this.#deps, this.leg, this.#ref !== null)
    if (!this.#isReleased) {
      this.#hangUp()
      this.#transfer?.callerLeft()
    }
    this.#deps.over()
  }

  #hangUp(): void {
    if (this.#ref === null || this.#hasHungUp) return
    this.#hasHungUp = true
    const ref = this.#ref
    // If all tries fail, the regular search for orphaned legs tries again.
    const letGo = () => refuseOrHangUp(this.#deps, ref, this.#rejectCode)
    void hangUpLeg(this.#deps, this.leg, letGo).then((isDone) => isDone && this.#legEnded())
  }

  #legEnded(): void {
    const { legs, clock } = this.#deps
    void legs.ended(this.leg, clock.nowMs()).catch((err: unknown) => this.#unstored(err))
  }

  #unstored(err: unknown): void {
    this.#deps.log.warn({ err, legId: this.leg.id }, 'a change of a leg was not stored')
  }

  #isUnanswered(): boolean {
    return this.#state === 'dialing' || this.#state === 'ringing'
  }

  #wait(delayMs: number, run: () => void): void {
    this.#cancelWait()
    this.#cancelWait = this.#deps.clock.after(delayMs, run)
  }
}
