/**
 * One call by phone that this process holds, from its first leg event to its end.
 *
 *   dialing ──► ringing ──► answered ──► talking ──► over
 *      │           │            │           ▲
 *      └───────────┴────────────┴── stream ─┘      an end is possible in each state
 *
 * Events of a line come late, doubled and in any order. So the stream alone says that the person has answered, a status
 * never goes back, and an event that no longer fits is recorded without effect.
 */
import type { Answering } from '../answering/answering.ts'
import type { PhoneLog } from '../calls/journal.ts'
import type { HeldCall, LiveCall } from '../conversation/parts/live-call.ts'
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

/** From the answer of the person to the beginning of the stream. */
const streamMs = 10_000
/** The rate of the conversation. A phone carries no more. */
const sampleRateHz = 16_000

/** A transfer of the call. */
export type OpenTransfer = {
  /** The leg of the caller is over, or the call is. A second call does nothing. */
  callerLeft(): void
  /** Something happened to the leg of the caller. */
  callerEvent(event: LegEvent): void
}

export class PhoneCall implements LegHolder {
  readonly leg: Leg
  readonly record: PhoneLog
  readonly #deps: PhoneCallDeps
  #state: 'dialing' | 'ringing' | 'answered' | 'talking' | 'over' = 'dialing'
  #ref: LegRef | null
  #held: HeldCall | null = null
  #call: Call
  /** Null: a person has called, or it does not matter who answers. */
  readonly #answering: Answering | null
  readonly #ignoredRegion: { requested_region?: string; region?: null }
  #stream: MediaTransport | null = null
  /** Null: the settings are not known yet, so the conversation waits. */
  #live: LiveCall | null = null
  readonly #sink = new LegSink(() => void this.#streamLost())
  #cancelWait = () => {}
  #signMs: number
  #hasHungUp = false
  /** The answer with which the caller of an inbound leg is refused. */
  #rejectCode: RejectCode | null = null
  #transfer: OpenTransfer | null = null
  /** The caller talks to a recipient over the line. */
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

  /** Null: the conversation has not begun, or is over. */
  get conversation(): TransferableConversation | null {
    return this.#state === 'talking' ? (this.#held?.conversation ?? null) : null
  }

  /** Null: the line has not answered yet. */
  get ref(): LegRef | null {
    return this.#ref
  }

  get line(): PhoneLine {
    return this.#deps.line
  }

  /** A transfer of this call has begun. When the call ends, the transfer ends. */
  transferring(transfer: OpenTransfer): void {
    this.#transfer = transfer
    this.#answering?.giveUp()
    if (this.isOver) transfer.callerLeft()
  }

  /** The line has connected the caller with a recipient. */
  handedOver(): void {
    this.#isHandedOver = true
    this.#sink.handOver()
  }

  /** The recipient has left: the call that was transferred is over. */
  recipientLeft(): void {
    this.#sink.hangUp()
  }

  /** The line brings the audio here. */
  expectStream(): MediaEndpoint {
    const { media } = this.#deps
    return media.expect({
      legId: this.leg.id,
      line: this.leg.line,
      sampleRateHz,
      joined: (stream, carrierLegId) => this.#joined(stream, carrierLegId),
      failed: (reason) => this.#streamFailed(reason),
    })
  }

  /** The call has its seat, and ends with it. */
  hold(held: HeldCall): void {
    this.#held = held
    if (this.isOver) held.drop()
  }

  /** The line has taken the call. It ends unless somebody answers within `ringingMs`. */
  dialed(carrierLegId: string, ringingMs: number): void {
    this.#named(carrierLegId)
    if (this.#isUnanswered()) this.#wait(ringingMs, () => this.end('no_answer'))
  }

  /** The conversation begins with these settings, as soon as there is a stream. */
  configure(live: LiveCall): void {
    this.#live = live
    this.#call = live.call
    this.#begin()
  }

  /** Answers the caller of an inbound leg. */
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

  /** Refuses the caller of an inbound leg. */
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
    // The answer to the dial may be lost, and then an event is the first to name the leg.
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

  /** Ends the call before its conversation has begun. Later, the conversation ends it. */
  end(reason: EndReason, clientReason?: string, sipCode: number | null = null): void {
    if (this.isOver || this.#state === 'talking') return
    this.#close()
    this.#stream?.close(reason, null)
    void this.record.ended(reason, clientReason, sipCode).catch((err: unknown) => {
      this.#deps.log.error({ err, callId: this.leg.callId }, 'the end of a call was not stored')
    })
    this.#held?.drop()
  }

  /** A defect of ours has kept the conversation from beginning. */
  defect(err: unknown): void {
    this.#deps.log.error({ err, callId: this.leg.callId }, 'a call by phone could not begin')
    this.end('pipeline_failed')
  }

  /** The conversation is over, and its record complete. */
  conversationOver(fault: SessionFault | null = null): void {
    // The process ends, and the line goes on without it.
    if (this.#isHandedOver && fault === 'shutting_down') this.#isReleased = true
    if (!this.isOver) this.#close()
  }

  /** Asks the line about a leg that has shown no sign of life for a while. */
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

  /** Begins the conversation once there are a seat, settings and a stream. */
  #begin(): void {
    const [held, live, stream] = [this.#held, this.#live, this.#stream]
    if (held === null || live === null || stream === null || this.isOver || this.#state === 'talking') return
    this.#state = 'talking'
    try {
      const transport = new LegTransport(stream, {
        pressKeys: (digits) => this.#pressKeys(digits),
        over: (fault) => this.conversationOver(fault),
      })
      const observer = this.#answering && { observer: this.#answering.observer }
      this.#sink.begin(held.begin({ ...live, ...observer, log: this.record }, transport))
      if (held.conversation) this.#answering?.begin(held.conversation, live.call.pipeline)
    } catch (err) {
      this.#state = 'answered'
      this.defect(err)
    }
  }

  async #pressKeys(digits: string): Promise<void> {
    const { line, log } = this.#deps
    try {
      if (this.#ref === null || this.isOver) throw new PhoneLineError('unreachable')
      await line.sendDtmf(this.#ref, digits)
    } catch (err) {
      log.warn({ err, legId: this.leg.id }, 'a line did not press keys')
      throw err
    }
  }

  #streamFailed(reason: StreamFailure): void {
    if (this.#state !== 'talking') this.record.line('carrier.stream_failed', { reason })
    this.end('carrier_error')
  }

  /** A line ends the stream of a leg that is over. If the leg lives, no conversation can begin over it any more. */
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
    // The person has answered, and has left before the stream began.
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

  /** The line has named the leg: from now on it can be hung up. */
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
    // If it fails, the look for orphaned legs tries again.
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
