/**
 * A leg that this process holds at its phone line: the carrier's id, the audio, the signs of life, and the hang-up. It
 * stores the leg's changes, so another process can hang up the leg if this process dies. The leg's holder, a call or a
 * transfer's recipient, decides what follows from a change.
 */
import type { ExpectedLeg, LegMedia } from '../ports/leg-media.ts'
import type { LegRef, MediaEndpoint, PhoneLine, RejectCode } from '../ports/phone-line.ts'
import type { Clock, Log } from '../ports/system.ts'
import { type Leg, type LegStore, mayBeOver, refOf } from '../records/leg.ts'
import { hangUpLeg, refuseOrHangUp } from './hang-up-leg.ts'
import { LegSink } from './leg-audio.ts'
import { storeLegName } from './leg-name.ts'

export type HeldLegDeps = {
  line: PhoneLine
  media: LegMedia
  legs: Pick<LegStore, 'dialed' | 'answered' | 'ended'>
  clock: Clock
  log: Log
}

/** The conversation's sample rate. Phone audio never has a higher rate. */
const sampleRateHz = 16_000

export class HeldLeg {
  readonly leg: Leg
  readonly sink: LegSink
  readonly #deps: HeldLegDeps
  #ref: LegRef | null
  /** The time of the last event or audio. */
  #signMs: number
  #hasHungUp = false
  /** True if the leg is over at the carrier. A hang-up that fails is then not repeated. */
  #isEnded = false
  /** The SIP code for refusing an inbound caller. Null if the leg must be hung up. */
  #rejectCode: RejectCode | null = null
  #isHandedOver = false

  /** `streamEnded` is called when the leg's audio stream has ended. */
  constructor(deps: HeldLegDeps, leg: Leg, streamEnded: () => void) {
    this.leg = leg
    this.sink = new LegSink(streamEnded)
    this.#deps = deps
    this.#ref = refOf(leg)
    this.#signMs = deps.clock.monotonicMs()
  }

  /** Null until the carrier has assigned an id to the leg. */
  get ref(): LegRef | null {
    return this.#ref
  }

  /** True if the other side has hung up, or if this process is hanging up or has hung up. */
  get hasHungUp(): boolean {
    return this.#hasHungUp
  }

  /** True if the carrier has connected this leg with another leg. */
  get isHandedOver(): boolean {
    return this.#isHandedOver
  }

  /** Makes the URL for the leg's audio stream, to which the carrier connects. */
  expectStream(events: Pick<ExpectedLeg, 'joined' | 'failed'>): MediaEndpoint {
    const { id: legId, organizationId, line } = this.leg
    return this.#deps.media.expect({ legId, organizationId, line, sampleRateHz, ...events })
  }

  /** Stores the carrier's leg id. From now on the leg can be hung up. Returns false if the id was known already. */
  named(carrierLegId: string): boolean {
    if (this.#ref !== null) return false
    this.#ref = { legId: this.leg.id, carrierLegId }
    void storeLegName(this.#deps, this.leg, carrierLegId)
    return true
  }

  /** Called when an event has shown that the leg exists. */
  showedLife(): void {
    this.#signMs = this.#deps.clock.monotonicMs()
  }

  answered(atMs: number): void {
    void this.#deps.legs.answered(this.leg, atMs).catch((err: unknown) => this.unstored(err))
  }

  /** Called when the carrier has connected this leg with another leg. The end of the stream then means nothing. */
  handedOver(): void {
    this.#isHandedOver = true
    this.sink.handOver()
  }

  /**
   * Returns true if the carrier must be asked about the leg, after a long time without events and audio. Call this
   * regularly.
   */
  mayBeOver(): boolean {
    const nowMs = this.#deps.clock.monotonicMs()
    if (this.sink.hasAudio) this.#signMs = nowMs
    this.sink.hasAudio = false
    return mayBeOver(nowMs - this.#signMs, this.#isHandedOver)
  }

  /** Asks the carrier. Resolves with true if the leg does not exist any more. Never rejects. */
  async isGone(): Promise<boolean> {
    const { line, log } = this.#deps
    if (this.#ref === null) return false
    try {
      return !(await line.isAlive(this.#ref))
    } catch (err) {
      log.warn({ err, legId: this.leg.id }, 'a line did not say whether a leg lives')
      return false
    }
  }

  /** From now on, `hangUp` refuses the inbound caller with this code. */
  refuseWith(code: RejectCode): void {
    this.#rejectCode = code
  }

  /** Hangs up or refuses the leg, unless it has no carrier's id yet or is hung up already. */
  hangUp(): void {
    if (this.#ref === null || this.#hasHungUp) return
    this.#hasHungUp = true
    const ref = this.#ref
    const letGo = () => refuseOrHangUp(this.#deps, ref, this.#rejectCode)
    void hangUpLeg(this.#deps, this.leg, letGo).then((isDone) => {
      if (isDone) this.ended()
      // A recipient's next check tries again. If no check follows, the search for orphaned legs hangs the leg up.
      else this.#hasHungUp = this.#isEnded
    })
  }

  /** Called when the leg is over at the carrier, or if the carrier has refused to dial the leg. */
  hungUp(): void {
    this.#isEnded = true
    this.#hasHungUp = true
    this.ended()
  }

  /** Stores the leg's end. */
  ended(): void {
    const { legs, clock } = this.#deps
    void legs.ended(this.leg, clock.nowMs()).catch((err: unknown) => this.unstored(err))
  }

  unstored(err: unknown): void {
    this.#deps.log.warn({ err, legId: this.leg.id }, 'a change of a leg was not stored')
  }
}
