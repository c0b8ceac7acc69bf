/**
 * Runs one call's transfer: its attempts one after another, the caller's hold, the time limits, and the answers to
 * clients' requests. `plan.ts` decides what to do after each event; this class carries out the effects. Each `Attempt`
 * handles one recipient.
 */
import { afterHoldOf } from '../calls/after-transfer.ts'
import type { TransferableConversation } from '../conversation/parts/transferable.ts'
import type { OpenTransfer, PhoneCall } from '../phone/phone-call.ts'
import type { LegEvent } from '../ports/phone-line.ts'
import type { NotDialed } from '../records/not-dialed.ts'
import type { TransferStatus } from '../records/states/transfer.ts'
import type { Destination, TransferCancelRequest, TransferDone, TransferSettings } from '../records/transfer.ts'
import { Attempt, type AttemptDeps, type StatusChange } from './attempt.ts'
import { type FetchHoldAudio, holdSoundOf } from './hold-audio.ts'
import { type Course, type CourseEffect, type CourseEvent, isCourseOver, newCourse, stepCourse } from './plan.ts'
import { dialMs } from './recipient.ts'
import { noNotes, type RequestNotes } from './request-notes.ts'

export type LiveTransferDeps = AttemptDeps & {
  fetchHoldAudio: FetchHoldAudio
  /** Makes a UUIDv7. */
  ids: { transfer: () => string }
}

/** The methods and fields of the transferred call that the transfer and its attempts use. */
export type TransferredCall = Pick<
  PhoneCall,
  'call' | 'leg' | 'line' | 'ref' | 'record' | 'handedOver' | 'recipientLeft' | 'transferring'
>

/**
 * The carrier ends a leg after the ringing time. If the carrier does not, this server ends the attempt this much later.
 */
const ringingGraceMs = 1_000
/**
 * After answering or accepting, a recipient waits at most this long in silence, including the rest of the agent's
 * sentence to the caller. Fixed in the contract.
 */
const bridgeMs = 5_000

export class LiveTransfer implements OpenTransfer {
  readonly #deps: LiveTransferDeps
  readonly #phone: TransferredCall
  readonly #conversation: TransferableConversation
  readonly #settings: TransferSettings
  readonly #attempts: Attempt[] = []
  #course: Course
  /** The id for the next attempt. */
  #nextId: string
  #cancelTimer = () => {}
  #events: CourseEvent[] = []
  #isRunning = false
  #settled: (() => void)[] = []
  #decided: (() => void)[] = []
  #notes: RequestNotes = noNotes

  constructor(
    deps: LiveTransferDeps,
    phone: TransferredCall,
    conversation: TransferableConversation,
    settings: TransferSettings,
  ) {
    this.#deps = deps
    this.#phone = phone
    this.#conversation = conversation
    this.#settings = settings
    this.#nextId = deps.ids.transfer()
    this.#course = newCourse(settings.kind, settings.destinations.length)
  }

  /** True if the caller waits for a recipient or talks to a recipient. */
  get isOpen(): boolean {
    return !isCourseOver(this.#course) || this.isConnected
  }

  /** True if the caller talks to a recipient. */
  get isConnected(): boolean {
    return this.#course.caller === 'recipient'
  }

  /**
   * The reason why the carrier refused the newest attempt. Null if the carrier is dialling, or if the attempt ended
   * before.
   */
  get notDialed(): NotDialed | null {
    return this.#newest.notDialed
  }

  /** Begins the transfer. Resolves when the carrier dials a recipient, or when no destination is left. */
  async begin(): Promise<TransferDone> {
    this.#phone.record.reached('transferring')
    this.#phone.transferring(this)
    this.#happened({ type: 'begin' })
    await this.#untilSettled()
    return this.#done(this.#newest, null)
  }

  /** Resolves when no attempt is open. */
  untilDecided(): Promise<void> {
    if (isCourseOver(this.#course)) return Promise.resolve()
    return new Promise((resolve) => {
      this.#decided.push(resolve)
    })
  }

  /** Returns an attempt's status, or null if this transfer has no such attempt. */
  statusOf(transferId: string): TransferStatus | null {
    return this.#find(transferId)?.row.status ?? null
  }

  /**
   * Connects the recipient at a client's request, as if the recipient had accepted. Returns null if the attempt's
   * status does not allow this.
   */
  complete(transferId: string, summary: string | null): TransferDone | null {
    const attempt = this.#find(transferId)
    if (attempt === null || attempt !== this.#newest || this.#settings.kind === 'blind') return null
    const { status } = attempt.row
    if (status !== 'screening' && status !== 'bridging' && status !== 'completed') return null
    if (status === 'screening') this.#notes = { reason: null, summary }
    if (status === 'screening') this.#attemptEvent('accepted')
    return this.#done(attempt, null)
  }

  /**
   * Cancels an attempt. If the next destination is tried, resolves like `begin`. Resolves with null if the attempt's
   * status does not allow a cancellation.
   */
  async cancel(transferId: string, request: TransferCancelRequest): Promise<TransferDone | null> {
    const attempt = this.#find(transferId)
    const isCancellable = attempt?.row.status === 'requested' || attempt?.row.status === 'screening'
    if (attempt === null || attempt !== this.#newest || !isCancellable) return null
    this.#notes = { reason: request.reason, summary: request.summary ?? null }
    const event = request.voicemailDetected ? 'cancelMachine' : 'cancel'
    this.#happened({ type: request.tryNext ? 'tryNext' : 'attempt', attempt: this.#course.attempt, event })
    const next = this.#newest === attempt ? null : this.#newest
    await this.#untilSettled()
    return this.#done(attempt, next)
  }

  callerLeft(): void {
    this.#happened({ type: 'callerLeft' })
  }

  /** Receives an event from the caller's leg, because a carrier may report the connection on either leg. */
  callerEvent(event: LegEvent): void {
    if (event.type === 'bridged') this.#attemptEvent('bridged')
  }

  get #newest(): Attempt {
    return this.#attempts.at(-1) as Attempt
  }

  #find(transferId: string): Attempt | null {
    return this.#attempts.find(({ row }) => row.id === transferId) ?? null
  }

  #attemptEvent(event: Extract<CourseEvent, { type: 'attempt' }>['event']): void {
    this.#happened({ type: 'attempt', attempt: this.#course.attempt, event })
  }

  /**
   * Handles an event. An effect may report the next event at once. That event waits until the current effects are
   * carried out.
   */
  #happened(event: CourseEvent): void {
    this.#events.push(event)
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
        const { course, effects } = stepCourse(this.#course, next)
        this.#course = course
        for (const effect of effects) this.#carryOut(effect)
      }
    } finally {
      this.#isRunning = false
    }
    if (isCourseOver(this.#course) || this.#newest.isSettled) for (const settle of this.#settled.splice(0)) settle()
    if (isCourseOver(this.#course)) for (const decide of this.#decided.splice(0)) decide()
  }

  #carryOut(effect: CourseEffect): void {
    switch (effect.type) {
      case 'hold':
        return this.#hold()
      case 'dial':
        return this.#dial(effect.attempt)
      case 'changed':
        return this.#changed(effect)
      case 'screen':
        return this.#screen()
      case 'bridge':
        return this.#newest.bridge()
      case 'handOver':
        this.#newest.recipient.handedOver()
        this.#phone.handedOver()
        this.#conversation.handOver()
        return this.#phone.record.reached('in_progress')
      case 'hangUp':
        return this.#newest.recipient.hangUp()
      case 'fallback':
        this.#phone.record.reached('in_progress')
        return this.#resume()
      case 'callOver':
        return this.#phone.recipientLeft()
    }
  }

  #hold(): void {
    const sound = holdSoundOf(this.#settings, this.#deps.fetchHoldAudio, (reason) => {
      if (this.isOpen) this.#phone.record.event('room.hold_audio_failed', { reason })
    })
    if (!this.#conversation.hold(sound, () => this.#happened({ type: 'held' }))) this.callerLeft()
  }

  #resume(): void {
    const { row, isScreened } = this.#newest
    this.#conversation.resume(afterHoldOf(this.#settings, row.failureCause, isScreened))
  }

  #dial(number: number): void {
    const attempt = this.#newAttempt(number)
    this.#attempts.push(attempt)
    this.#phone.record.transfer({ transfer: attempt.row, nextTransferId: null })
    this.#ring(dialMs)
    attempt.dial()
  }

  #newAttempt(number: number): Attempt {
    const id = this.#nextId
    this.#nextId = this.#deps.ids.transfer()
    const input = { id, number, destination: this.#settings.destinations[number - 1] as Destination }
    const context = { phone: this.#phone, conversation: this.#conversation, settings: this.#settings }
    const attempt: Attempt = new Attempt(this.#deps, context, input, {
      happened: (event) => this.#happened(event),
      dialed: () => this.#dialed(attempt),
    })
    return attempt
  }

  #dialed(attempt: Attempt): void {
    if (attempt !== this.#newest) return
    if (attempt.row.status === 'requested') this.#ring(0)
    for (const settle of this.#settled.splice(0)) settle()
  }

  /**
   * Starts the timer for an answer. The ringing time counts from the carrier's acceptance of the dial command, as
   * carriers count it. Before the acceptance, the dial command's time limit is added.
   */
  #ring(dialLimitMs: number): void {
    this.#wait(dialLimitMs + this.#settings.ringingTimeoutS * 1000 + ringingGraceMs, 'noAnswer')
  }

  #changed(change: StatusChange): void {
    const { status, then } = change
    const attempt = this.#newest
    attempt.changed(change, this.#notes)
    this.#notes = noNotes
    this.#phone.record.transfer({ transfer: attempt.row, nextTransferId: then === 'dial' ? this.#nextId : null })
    this.#cancelTimer()
    if (status === 'screening') return
    // The time limit for the connection begins now, although the agent may still be finishing its sentence.
    if (status === 'bridging') this.#wait(bridgeMs, 'lineFailed')
    attempt.endScreening()
  }

  #screen(): void {
    this.#wait((this.#settings.screeningTimeoutS ?? 0) * 1000, 'noAnswer')
    this.#newest.screen()
  }

  #wait(delayMs: number, event: 'noAnswer' | 'lineFailed'): void {
    this.#cancelTimer()
    const number = this.#course.attempt
    this.#cancelTimer = this.#deps.clock.after(delayMs, () =>
      this.#happened({ type: 'attempt', attempt: number, event }),
    )
  }

  #untilSettled(): Promise<void> {
    if (isCourseOver(this.#course) || this.#newest.isSettled) return Promise.resolve()
    return new Promise((resolve) => {
      this.#settled.push(resolve)
    })
  }

  #done({ row }: Attempt, next: Attempt | null): TransferDone {
    return {
      transferId: row.id,
      attemptIds: this.#attempts.map((attempt) => attempt.row.id),
      nextId: next?.row.id ?? null,
    }
  }
}
