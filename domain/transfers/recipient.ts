/**
 * A recipient's leg, from the dial command to its end.
 *
 *   dialling ──► ringing ──► answered ──► over
 *       └───────────┴────────────┴─────────▲       hung up, by either side or by us
 *
 * Its row is stored before the dial command, so another process can hang up the leg if this process dies.
 */
import type { AnswerResult } from '../answering/answering.ts'
import type { PhoneLog } from '../calls/journal.ts'
import { reasonOfHangup } from '../phone/hangup.ts'
import { HeldLeg, type HeldLegDeps } from '../phone/held-leg.ts'
import { forgetStream } from '../phone/leg-name.ts'
import type { MediaSink, MediaTransport } from '../ports/media.ts'
import { type LegEvent, type LegRef, type LegToDial, PhoneLineError } from '../ports/phone-line.ts'
import type { Leg, LegHolder, LegStore } from '../records/leg.ts'
import type { AttemptEvent } from '../records/states/transfer.ts'

export type RecipientDeps = HeldLegDeps & {
  legs: Pick<LegStore, 'insert'>
  record: Pick<PhoneLog, 'line'>
  /** Called once, when the leg is over. */
  over: () => void
}

export type RecipientEvents = {
  happened(event: AttemptEvent): void
  /** Called once, when the carrier is dialling or has refused the dial command. */
  dialed(): void
  /** Called before `dialed` if the carrier does not dial. */
  notDialed(error: unknown): void
  /** Called when the carrier reports that a person or a machine answered. */
  judged(result: AnswerResult): void
}

/** If the carrier has not answered the dial command within this time, the recipient counts as not dialled. */
export const dialMs = 5_000
/** After the person answers, the audio stream must begin within this time. */
const streamMs = 10_000

export class Recipient implements LegHolder {
  readonly #deps: RecipientDeps
  readonly #events: RecipientEvents
  readonly #held: HeldLeg
  readonly #abort = new AbortController()
  #stream: MediaTransport | null = null
  #brings = false
  #isAnswered = false
  #isOver = false
  #cancelStream = () => {}

  constructor(deps: RecipientDeps, leg: Leg, events: RecipientEvents) {
    this.#deps = deps
    this.#held = new HeldLeg(deps, leg, () => void this.#askWhetherAlive())
    this.#events = events
  }

  get leg(): Leg {
    return this.#held.leg
  }

  /** Null until the carrier has assigned an id to the leg. */
  get ref(): LegRef | null {
    return this.#held.ref
  }

  /** Null before the answer, or if this server does not receive the leg's audio. */
  get stream(): MediaTransport | null {
    return this.#stream
  }

  /**
   * Dials the recipient. If `brings` is true, this server receives the leg's audio, and the arrival of the audio also
   * counts as the answer. Never rejects.
   */
  async dial(request: Omit<LegToDial, 'legId' | 'media' | 'commandId'>, brings: boolean): Promise<void> {
    const { legs } = this.#deps
    this.#brings = brings
    try {
      await legs.insert(this.leg)
      if (this.#isOver) return this.#held.ended()
      const leg = {
        ...request,
        legId: this.leg.id,
        media: brings ? this.#expectStream() : null,
        commandId: this.leg.id,
      }
      const { carrierLegId } = await this.#dialInTime(leg)
      this.#named(carrierLegId)
      if (this.#isOver) this.#held.hangUp()
    } catch (err) {
      this.#notDialed(err)
    }
  }

  /** From now on, sends the leg's audio to `sink`. */
  connect(sink: MediaSink): void {
    this.#held.sink.begin(sink)
  }

  /** Called when the carrier has connected the recipient with the caller. */
  handedOver(): void {
    this.#held.handedOver()
  }

  /** Hangs up the leg. A second call does nothing. */
  hangUp(): void {
    if (this.#isOver) return
    this.#close()
    this.#abort.abort(new PhoneLineError('timeout'))
    this.#held.hangUp()
  }

  event(event: LegEvent): void {
    this.#held.showedLife()
    this.#record(event)
    this.#named(event.carrierLegId)
    if (event.type === 'hangup') return this.#hungUp(event.sipCode, event.cause)
    // The attempt ended before the carrier had assigned an id to the leg, so the leg is hung up now.
    if (this.#isOver) return this.#held.hangUp()
    switch (event.type) {
      case 'answered':
        return this.#answered(event.occurredAtMs)
      case 'bridged':
        return this.#events.happened('bridged')
      case 'dtmf':
        if (event.digit === '1') this.#events.happened('accepted')
        if (event.digit === '2') this.#events.happened('declined')
        return
      case 'machine_detection':
        return this.#events.judged(event.result)
      case 'stream_failed':
        return this.#happenedBeforeStream('lineFailed')
      case 'initiated':
      case 'ringing':
      case 'stream_started':
      case 'stream_stopped':
        return
    }
  }

  async look(): Promise<void> {
    if (this.#isOver) return this.#held.hangUp()
    if (this.#held.mayBeOver()) await this.#askWhetherAlive()
  }

  #named(carrierLegId: string): void {
    if (this.#held.named(carrierLegId) && !this.#isOver) this.#events.dialed()
  }

  #expectStream() {
    return this.#held.expectStream({
      joined: (stream, carrierLegId) => this.#joined(stream, carrierLegId),
      failed: () => this.#happenedBeforeStream('lineFailed'),
    })
  }

  #joined(stream: MediaTransport, carrierLegId: string | undefined): MediaSink {
    // If the dial command's answer and all events were lost, the stream is the first message with the carrier's leg id.
    if (carrierLegId !== undefined) this.#named(carrierLegId)
    if (this.#isOver) {
      stream.close('carrier_error', null)
      this.#held.hangUp()
    } else {
      this.#stream = stream
      this.#cancelStream()
      this.#storeAnswered(this.#deps.clock.nowMs())
      this.#events.happened('answered')
    }
    return this.#held.sink
  }

  #answered(atMs: number): void {
    if (this.#isAnswered) return
    this.#storeAnswered(atMs)
    if (this.#stream !== null) return
    if (!this.#brings) return this.#events.happened('answered')
    this.#cancelStream = this.#deps.clock.after(streamMs, () => this.#happenedBeforeStream('lineFailed'))
  }

  #happenedBeforeStream(event: AttemptEvent): void {
    if (this.#stream === null && !this.#isOver) this.#events.happened(event)
  }

  #hungUp(sipCode: number | null, cause: string): void {
    this.#held.hungUp()
    if (this.#isOver) return
    this.#close()
    this.#events.happened(this.#isAnswered ? 'recipientLeft' : refusalOf(sipCode, cause))
  }

  async #dialInTime(leg: LegToDial): Promise<{ carrierLegId: string }> {
    const { clock, line } = this.#deps
    const cancel = clock.after(dialMs, () => {
      // If the leg has an id, an event has shown that the carrier dials, so only the answer to the command is late.
      if (this.ref === null) this.#abort.abort(new PhoneLineError('timeout'))
    })
    const { signal } = this.#abort
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new PhoneLineError('timeout')), { once: true })
    })
    late.catch(() => {})
    try {
      return await Promise.race([line.dial(leg, signal), late])
    } finally {
      cancel()
    }
  }

  #notDialed(err: unknown): void {
    // The answer to the dial command is lost, but an event contained the leg's id. So the carrier is dialling, and the
    // attempt continues.
    if (this.ref !== null) return
    const isRefused = err instanceof PhoneLineError && err.kind !== 'timeout'
    if (!(err instanceof PhoneLineError)) this.#held.unstored(err)
    // After a time-out the carrier may dial even so. The leg stays open in the database, and its first event hangs it
    // up.
    if (isRefused && this.#isOver) this.#held.ended()
    if (this.#isOver) return
    if (isRefused) this.#held.hungUp()
    this.#close()
    this.#abort.abort(new PhoneLineError('timeout'))
    this.#held.hangUp()
    const sipCode = err instanceof PhoneLineError ? err.sipCode : null
    this.#events.notDialed(err)
    this.#events.happened(sipCode === null ? 'lineFailed' : refusalOf(sipCode, ''))
    this.#events.dialed()
  }

  #record(event: LegEvent): void {
    const { record } = this.#deps
    const leg = { leg: 'recipient' }
    if (event.type === 'hangup')
      record.line('carrier.hangup', { ...leg, cause: event.cause, by: event.by }, event.sipCode)
    else if (event.type === 'initiated') record.line('carrier.initiated', { ...leg, direction: this.leg.direction })
    else if (event.type === 'stream_failed') record.line('carrier.stream_failed', { ...leg, reason: event.reason })
    // The result of answering machine detection is recorded elsewhere if it has an effect.
    else if (event.type !== 'machine_detection') record.line(`carrier.${event.type}`, leg)
  }

  async #askWhetherAlive(): Promise<void> {
    if (this.#isOver) return
    if ((await this.#held.isGone()) && !this.#isOver) this.#hungUp(null, 'lost')
  }

  #close(): void {
    this.#isOver = true
    this.#cancelStream()
    forgetStream(this.#deps, this.leg, this.ref !== null || this.#held.hasHungUp)
    this.#deps.over()
  }

  #storeAnswered(atMs: number): void {
    this.#isAnswered = true
    this.#held.answered(atMs)
  }
}

function refusalOf(sipCode: number | null, cause: string): AttemptEvent {
  const reason = reasonOfHangup(sipCode, cause)
  if (reason === 'busy' || reason === 'declined') return reason
  return reason === 'no_answer' ? 'noAnswer' : 'lineFailed'
}
