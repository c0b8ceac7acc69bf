/**
 * One attempt to reach a recipient: its row, the recipient's leg, and the agent's question whether the recipient
 * accepts. It reports events; `LiveTransfer` decides what follows and gives the commands.
 */
import type { Answering, AnswerResult } from '../answering/answering.ts'
import { defaultSummary } from '../calls/transfer-summary.ts'
import type { Screening, TransferableConversation } from '../conversation/parts/transferable.ts'
import { type Decision, screeningText } from '../conversation/words/decision-words.ts'
import type { PhoneCall } from '../phone/phone-call.ts'
import type { LegMedia } from '../ports/leg-media.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { LegHolder, LegStore } from '../records/leg.ts'
import type { PriceOfLeg } from '../records/leg-costs.ts'
import { type NotDialed, whyNotDialed } from '../records/not-dialed.ts'
import { type AttemptEvent, isOver } from '../records/states/transfer.ts'
import type { Destination, Transfer, TransferSettings } from '../records/transfer.ts'
import { leftWhileBridging } from './leaving.ts'
import { newTransfer } from './new-transfer.ts'
import type { CourseEffect, CourseEvent } from './plan.ts'
import { Recipient } from './recipient.ts'
import { recipientDial, recipientLeg } from './recipient-leg.ts'
import { type RequestNotes, withNotes } from './request-notes.ts'
import { detectVoicemail } from './voicemail-detection.ts'

export type AttemptDeps = {
  media: LegMedia
  legs: LegStore
  priceOf: PriceOfLeg
  legHolders: { hold(holder: LegHolder): void; release(legId: string): void }
  clock: Clock
  log: Log
  /** Makes an id `leg_…`. */
  ids: { leg: () => string }
}

/** The transfer's call and settings. */
export type AttemptContext = {
  phone: Pick<PhoneCall, 'call' | 'leg' | 'line' | 'ref' | 'record'>
  conversation: Pick<TransferableConversation, 'screen'>
  settings: TransferSettings
}

/** `number` is the attempt's number in its transfer, from 1. */
export type AttemptInput = { id: string; number: number; destination: Destination }

export type StatusChange = Extract<CourseEffect, { type: 'changed' }>

export type AttemptEvents = {
  happened(event: CourseEvent): void
  /** Called once, when the carrier is dialling or has refused the dial command. */
  dialed(): void
}

export class Attempt {
  readonly recipient: Recipient
  readonly #deps: AttemptDeps
  readonly #context: AttemptContext
  readonly #input: AttemptInput
  readonly #events: AttemptEvents
  #row: Transfer
  #isSettled = false
  #notDialed: NotDialed | null = null
  #screening: Screening | null = null
  /**
   * Detects an answering machine while the agent asks the recipient. Null if detection is off, or if the carrier has
   * already detected a machine or a person.
   */
  #detection: Answering | null = null
  /** True if the carrier detected a machine or a person before the agent asked the recipient. */
  #isJudged = false

  /** From now on this process holds the recipient's leg. */
  constructor(deps: AttemptDeps, context: AttemptContext, input: AttemptInput, events: AttemptEvents) {
    const { phone, settings } = context
    const { destination, id } = input
    const { organizationId, test } = phone.leg
    const nowMs = deps.clock.nowMs()
    const legId = deps.ids.leg()
    this.#deps = deps
    this.#context = context
    this.#input = input
    this.#events = events
    this.recipient = this.#makeRecipient(legId, nowMs)
    deps.legHolders.hold(this.recipient)
    const identity = { organizationId, test, id, callId: phone.call.id, callerIdentity: phone.call.identity, legId }
    this.#row = newTransfer(identity, settings, destination, this.#summary(), nowMs)
  }

  get row(): Transfer {
    return this.#row
  }

  /** True if the carrier is dialling or has refused the dial command. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  /** The reason why the carrier refused the attempt. Null if it did not refuse. */
  get notDialed(): NotDialed | null {
    return this.#notDialed
  }

  /** True if the agent has asked the recipient. */
  get isScreened(): boolean {
    return this.#screening !== null
  }

  dial(): void {
    const { phone, settings } = this.#context
    const request = recipientDial(settings, phone.ref, this.#input.destination.to)
    void this.recipient.dial(request, settings.kind === 'warm')
  }

  /** Changes the row's status. `notes` are the reasons and summaries in the request for the change. */
  changed(change: StatusChange, notes: RequestNotes): void {
    this.#row = changedRow(this.#row, change, this.#context.settings, notes, this.#deps.clock.nowMs())
  }

  /** Makes the agent ask the recipient to accept the call. */
  screen(): void {
    const { phone, conversation } = this.#context
    const { stream } = this.recipient
    if (stream === null) return
    const { language } = phone.call.pipeline.intent
    const text = screeningText(this.#input.destination.screeningPrompt, this.#row.summary, language)
    if (!this.#isJudged) this.#detection = this.#detect()
    const { observer = null } = this.#detection ?? {}
    const decided = (decision: Decision) => this.#happened(decision)
    this.#screening = conversation.screen(text, stream, { decided, observer })
    this.recipient.connect(this.#screening)
  }

  /** Ends the agent's question and the detection of an answering machine. */
  endScreening(): void {
    this.#screening?.close()
    this.#detection?.close()
  }

  /** Asks the carrier to connect the caller with the recipient. */
  bridge(): void {
    const { line, ref, leg } = this.#context.phone
    const { ref: other } = this.recipient
    if (ref === null || other === null) return this.#happened('lineFailed')
    line.bridge(ref, other).catch((err: unknown) => {
      this.#deps.log.warn({ err, callId: leg.callId }, 'a line did not connect two legs')
      this.#happened('lineFailed')
    })
  }

  #happened(event: AttemptEvent): void {
    this.#events.happened({ type: 'attempt', attempt: this.#input.number, event })
  }

  #makeRecipient(legId: string, createdAtMs: number): Recipient {
    const { legHolders, priceOf } = this.#deps
    const { phone, settings } = this.#context
    const { line, record } = phone
    const leg = recipientLeg(phone, { id: legId, to: this.#input.destination.to, createdAtMs }, priceOf)
    const over = () => legHolders.release(legId)
    return new Recipient({ ...this.#deps, line, record, over }, leg, {
      happened: (event) => {
        if (event !== 'recipientLeft' || this.#row.status !== 'bridging') return this.#happened(event)
        void leftWhileBridging(phone, this.#input.number).then((left) => this.#events.happened(left))
      },
      dialed: () => {
        this.#isSettled = true
        this.#events.dialed()
      },
      notDialed: (error) => {
        this.#notDialed = whyNotDialed(error, settings.kind === 'blind' && settings.outboundTrunkId !== null)
      },
      judged: (result) => this.#judged(result),
    })
  }

  #summary(): string | null {
    const { phone, settings } = this.#context
    const { summary } = this.#input.destination
    if (summary !== null || settings.kind === 'blind') return summary
    return defaultSummary(phone.record.lastSaid(), phone.call.pipeline.intent.language)
  }

  /** Handles the carrier's result of answering machine detection. If the result arrives too late, it is ignored. */
  #judged(result: AnswerResult): void {
    if (this.#detection !== null) {
      if (this.#detection.plan.mode === 'carrier') this.#detection.decide(result)
      return
    }
    if (this.#isJudged || this.#row.status !== 'requested') return
    this.#isJudged = true
    const { record } = this.#context.phone
    record.line('carrier.machine_detection', { leg: 'recipient', mode: 'carrier', result })
    if (result === 'machine') this.#happened('machine')
  }

  #detect(): Answering | null {
    const { record, call, line } = this.#context.phone
    const deps = { clock: this.#deps.clock, record, machine: () => this.#happened('machine') }
    return detectVoicemail(this.#context.settings.detection, line.name, call.pipeline, deps)
  }
}

function changedRow(
  row: Transfer,
  { status, cause, then }: StatusChange,
  { fallback }: TransferSettings,
  notes: RequestNotes,
  nowMs: number,
): Transfer {
  const voicemailDetected = cause === 'voicemail' || row.voicemailDetected
  return {
    ...row,
    ...{ status, failureCause: cause, voicemailDetected, updatedAtMs: nowMs },
    ...withNotes(row, notes),
    fallback: then === 'fallback' ? { ...fallback, voicemailDetected } : null,
    completedAtMs: isOver(status) ? nowMs : null,
  }
}
