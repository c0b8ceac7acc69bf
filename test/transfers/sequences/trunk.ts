/**
 * A SIP trunk behind the phone line port. A call is refused, answered or cancelled, and the answer may be late or lost.
 * REFER is refused, accepted, or followed by BYE without a NOTIFY. A far end may leave at any moment. Its events come
 * in order, to the leg's process. If this process dies, all legs of the process lose their audio.
 */

import type { PhoneLine } from '../../../domain/ports/phone-line.ts'
import { type LegEventBody, type LegRef, type LegToDial, PhoneLineError } from '../../../domain/ports/phone-line.ts'
import type { CancelSignal } from '../../../domain/ports/system.ts'
import type { TestClock } from '../../clock.ts'
import type { Faults } from './faults.ts'
import { type Life, never } from './life.ts'
import { callerLegId, type LineEvents, type SequenceLine } from './line.ts'
import { farEndOf } from './trunk-numbers.ts'

/** The delay of a message in one direction. */
const wayMs = 40
/** A lost BYE is repeated after this time. */
const repeatMs = 500
/**
 * The limits of the real trunk line: for the last NOTIFY from a far end after it has left, and for the bridge after
 * that.
 */
const lastNewsMs = 2_000
const bridgedMs = 5_000
const answerLateMs = 6_000

const notForwarded = {
  ...{ forwardedFrom: null, originalTo: null, redirectingNumber: null },
  ...{ diversion: [], historyInfo: [], privacy: [] },
}

type TrunkLeg = {
  id: string
  legId: string | null
  /** The process whose SIP socket serves the leg. */
  life: Life
  state: 'ringing' | 'answered' | 'over'
  address: string | null
  to: string
  /** The far end's call for our REFER. Null: it makes no call. */
  referral: TrunkLeg | null
  /** True after the far end has left. Its last NOTIFY may still come. */
  hasLeft: boolean
  /** The far end makes this call itself, so it has no leg here. */
  isReferred: boolean
  events: number
  tail: Promise<unknown>
}

export class SequenceTrunk implements SequenceLine {
  readonly name = 'trunk'
  readonly #clock: TestClock
  readonly #faults: Faults
  readonly #events: LineEvents
  readonly #legs = new Map<string, TrunkLeg>()
  readonly #alive = new Set<string>()
  readonly #peers = new Map<string, string>()

  constructor(clock: TestClock, faults: Faults, events: LineEvents) {
    this.#clock = clock
    this.#faults = faults
    this.#events = events
  }

  get alive(): ReadonlySet<string> {
    return this.#alive
  }

  isAlive(carrierLegId: string): boolean {
    return this.#alive.has(carrierLegId)
  }

  peerOf(carrierLegId: string): string | null {
    return this.#peers.get(carrierLegId) ?? null
  }

  lostHangup(): void {
    // A trunk repeats its BYE until it is answered.
  }

  call(from: string, to: string, life: Life): string {
    const leg = this.#open(life, null, to)
    const of = { direction: 'incoming', from, to, connectionId: 'sip_1' } as const
    // If a caller is refused while the database is unreachable, the caller calls again.
    const calls = (): unknown =>
      this.#emit(leg, { type: 'initiated', ...of, forwarding: notForwarded }).catch(() => this.#clock.after(300, calls))
    this.#clock.after(1, calls)
    return leg.id
  }

  leaves(carrierLegId: string): void {
    const leg = this.#legs.get(carrierLegId)
    if (leg === undefined || !this.#alive.has(carrierLegId)) return
    const isDeclined = leg.state === 'ringing' && carrierLegId !== callerLegId
    this.#gone(leg)
    const fault = this.#faults.ofEvent()
    const isRepeated = fault === 'late' || fault === 'lost'
    this.#clock.after(this.#faults.delayMs(wayMs) + (isRepeated ? repeatMs : 0), () => {
      if (isDeclined) this.#end(leg, 603, 'call_rejected', 'callee')
      else this.#left(leg)
    })
  }

  presses(carrierLegId: string, digit: string): void {
    const leg = this.#legs.get(carrierLegId)
    if (leg !== undefined && this.#alive.has(carrierLegId)) this.#tell(leg, { type: 'dtmf', digit })
  }

  line(life: Life): PhoneLine {
    const own = ({ legId, carrierLegId }: LegRef) => {
      const leg = this.#legs.get(carrierLegId)
      if (leg === undefined || leg.life !== life || leg.state === 'over') return null
      leg.legId = legId
      return leg
    }
    return {
      name: 'trunk',
      dial: (leg, signal) => this.#dial(life, leg, signal),
      answer: (ref, media) => {
        const leg = own(ref)
        if (leg === null) return Promise.reject(new PhoneLineError('refused', { isGone: true }))
        leg.address = media.url
        this.#answered(leg)
        return Promise.resolve()
      },
      reject: (ref) => this.#hangUp(ref, life),
      hangUp: (ref) => this.#hangUp(ref, life),
      bridge: (ref, other) => this.#bridge(own(ref), own(other)),
      sendDtmf: () => Promise.resolve(),
      isAlive: (ref) => Promise.resolve(own(ref) !== null),
      find: () => Promise.resolve(null),
    }
  }

  async #dial(life: Life, wanted: LegToDial, signal: CancelSignal): Promise<{ carrierLegId: string }> {
    if (!life.isAlive) return never()
    const fault = this.#faults.ofCommand({ does: 'dial', leg: null })
    await this.#clock.wait(this.#faults.delayMs(wayMs))
    const end = farEndOf(wanted.to, wanted.transferee !== undefined)
    const sipCode = fault === 'server' ? 503 : end.refuses
    if (fault === 'unreachable' || sipCode !== null) this.#events.refused(wanted.legId)
    if (fault === 'unreachable') throw new PhoneLineError('unreachable')
    if (sipCode !== null) throw new PhoneLineError('refused', { sipCode })
    const leg = this.#open(life, wanted.legId, wanted.to, wanted.transferee !== undefined)
    leg.address = wanted.media?.url ?? null
    const givesUp = () => void this.#hangUp({ legId: wanted.legId, carrierLegId: leg.id }, life)
    signal.addEventListener('abort', givesUp)
    // An abort hangs up the leg, so a later answer finds no call.
    if (fault === 'answer lost') return never()
    if (fault === 'answer late') await this.#clock.wait(answerLateMs)
    signal.removeEventListener('abort', givesUp)
    if (!life.isAlive || leg.state === 'over') return never()
    if (wanted.transferee !== undefined) this.#refers(leg, wanted.transferee)
    else this.#rings(leg, wanted)
    return { carrierLegId: leg.id }
  }

  #rings(leg: TrunkLeg, { from, to, ringingTimeoutS }: LegToDial): void {
    const of = { direction: 'outgoing', from, to, connectionId: 'sip_1' } as const
    this.#tell(leg, { type: 'initiated', ...of, forwarding: notForwarded })
    this.#tell(leg, { type: 'ringing' })
    const { says, answersMs, leavesMs } = farEndOf(to, false)
    const isRinging = () => leg.state === 'ringing'
    this.#clock.after(ringingTimeoutS * 1000, () => isRinging() && this.#end(leg, 487, 'timeout', 'caller'))
    if (says !== null) this.#clock.after(500, () => isRinging() && this.#end(leg, says, 'unspecified', 'callee'))
    if (answersMs !== null) this.#clock.after(answersMs, () => isRinging() && this.#answered(leg))
    if (answersMs !== null && leavesMs !== null) this.#clock.after(answersMs + leavesMs, () => this.leaves(leg.id))
  }

  /** The caller's far end has accepted REFER: it calls a person, and reports the progress. */
  #refers(leg: TrunkLeg, transferee: LegRef): void {
    const caller = this.#legs.get(transferee.carrierLegId)
    if (caller === undefined || caller.state === 'over') return this.#end(leg, 481, 'unspecified', 'callee')
    caller.referral = leg
    const { says, answersMs, isSilent } = farEndOf(leg.to, true)
    if (says !== null) this.#clock.after(500, () => this.#end(leg, says, 'unspecified', 'callee'))
    if (answersMs === null) return
    this.#clock.after(answersMs, () => {
      // The person may answer after the transfer was cancelled. Then the far end connects the person with the caller,
      // and the caller has left us.
      if (isSilent || leg.state === 'over') return this.leaves(caller.id)
      this.#answeredReferral(leg)
    })
  }

  #answeredReferral(leg: TrunkLeg): void {
    if (leg.state !== 'ringing') return
    leg.state = 'answered'
    this.#tell(leg, { type: 'answered' })
  }

  #answered(leg: TrunkLeg): void {
    leg.state = 'answered'
    this.#tell(leg, { type: 'answered' })
    if (leg.address !== null) this.#events.stream(leg.id, leg.address)
  }

  #hangUp({ carrierLegId }: LegRef, life: Life): Promise<void> {
    const leg = this.#legs.get(carrierLegId)
    if (!life.isAlive) return never()
    if (leg === undefined) return Promise.resolve()
    this.#events.hangUp(carrierLegId)
    if (leg.life === life) this.#end(leg, null, 'normal_clearing', 'caller')
    // The dead process has stored the leg's dialog, so another process can send BYE to the far end.
    else if (!leg.life.isAlive) this.#clock.after(wayMs, () => this.#gone(leg))
    return Promise.resolve()
  }

  async #bridge(leg: TrunkLeg | null, other: TrunkLeg | null): Promise<void> {
    if (leg === null || other === null) throw new PhoneLineError('refused', { isGone: true })
    if (!other.isReferred) {
      if (leg.hasLeft || other.hasLeft) throw new PhoneLineError('refused')
      // If a far end's BYE is on its way, the leg is not connected any more.
      if (this.#alive.has(leg.id) && this.#alive.has(other.id)) this.#peers.set(leg.id, other.id).set(other.id, leg.id)
      for (const each of [leg, other]) this.#tell(each, { type: 'bridged' })
      return
    }
    if (other.state !== 'answered') throw new PhoneLineError('refused')
    await this.#emit(other, { type: 'bridged' })
    this.#end(leg, null, 'normal_clearing', 'callee')
  }

  /**
   * Handles a far end's BYE. If the far end is calling a person for us, the BYE may mean it has handed the caller over.
   */
  #left(leg: TrunkLeg): void {
    const { referral } = leg
    const finish = () => this.#end(leg, null, 'normal_clearing', leg.id === callerLegId ? 'caller' : 'callee')
    if (referral === null || referral.state === 'over') return finish()
    leg.hasLeft = true
    this.#clock.after(lastNewsMs, () => {
      if (referral.state === 'over') return finish()
      this.#answeredReferral(referral)
      this.#clock.after(bridgedMs, finish)
    })
  }

  #open(life: Life, legId: string | null, to: string, isReferred = false): TrunkLeg {
    const id = this.#legs.size === 0 ? callerLegId : `trunk:${this.#legs.size + 1}`
    const tail = Promise.resolve()
    const flags = { referral: null, hasLeft: false, isReferred, events: 0, tail }
    const leg: TrunkLeg = { id, legId, life, state: 'ringing', address: null, to, ...flags }
    this.#legs.set(id, leg)
    if (!isReferred) this.#alive.add(id)
    return leg
  }

  /** Removes a leg whose person has hung up. */
  #gone({ id }: TrunkLeg): void {
    this.#alive.delete(id)
    const peer = this.#peers.get(id)
    this.#peers.delete(id)
    if (peer !== undefined) this.#peers.delete(peer)
  }

  /** Ends the leg on our side and notifies its far end. */
  #end(leg: TrunkLeg, sipCode: number | null, cause: string, by: 'caller' | 'callee'): void {
    if (leg.state === 'over') return
    leg.state = 'over'
    this.#clock.after(wayMs, () => this.#gone(leg))
    const over = () => this.#events.over(leg.id)
    this.#emit(leg, { type: 'hangup', sipCode, cause, by }).then(over, over)
  }

  #tell(leg: TrunkLeg, body: LegEventBody): void {
    this.#emit(leg, body).catch(() => {})
  }

  /** Sends an event to the leg's process. The events of a call keep their order. */
  #emit(leg: TrunkLeg, body: LegEventBody): Promise<void> {
    const id = `${leg.id}.${leg.events++}`
    const done = leg.tail.then(() => {
      const head = { id, occurredAtMs: this.#clock.nowMs(), carrierLegId: leg.id, legId: leg.legId }
      return leg.life.isAlive ? this.#events.deliver({ ...head, ...body }, leg.life) : never<void>()
    })
    leg.tail = done.catch(() => {})
    return done
  }
}
