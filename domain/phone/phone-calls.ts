/** Holds this process's phone calls and passes leg events to them. */
import type { Journal } from '../calls/journal.ts'
import type { CallCommands } from '../calls/live/commands.ts'
import type { CallStore } from '../calls/store.ts'
import type { LiveCall } from '../conversation/parts/live-call.ts'
import type { LegMedia } from '../ports/leg-media.ts'
import {
  type CountIgnoredEvent,
  type LegEvent,
  type LineName,
  type PhoneLine,
  PhoneLineError,
} from '../ports/phone-line.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { PhoneLines } from '../records/callable-number.ts'
import { Fault } from '../records/fault.ts'
import { type Leg, type LegHolder, type LegStore, type OrphanedLeg, refOf } from '../records/leg.ts'
import type { Tenant } from '../records/organization.ts'
import { isTerminal } from '../records/states/call.ts'
import { LegWork } from './leg-work.ts'
import { PhoneCall } from './phone-call.ts'

export type PhoneCallsDeps = {
  lines: PhoneLines
  media: LegMedia
  legs: LegStore
  calls: Pick<CallStore, 'find'>
  commands: Pick<CallCommands, 'send'>
  journal: Journal
  countIgnored: CountIgnoredEvent
  clock: Clock
  log: Log
}

/** Handles an inbound call announced by a carrier or SIP trunk. Resolves when the call is stored. */
export type TakeInbound = (line: PhoneLine, event: Announced) => Promise<void>
export type Announced = Extract<LegEvent, { type: 'initiated' }>

/** The maximum number of remembered event ids. A carrier repeats an event within seconds or minutes. */
const seenMax = 20_000
/** After a call's end, its late events are still accepted for this long. */
const lateMs = 60_000
/**
 * An ended call's open legs count as orphaned only after this time, because the call's process normally hangs them up
 * earlier.
 */
const orphanGraceMs = 10_000
/** The maximum number of orphaned legs per carrier in one search. */
const orphansMax = 1000
/**
 * If this process is not connected to a leg's carrier, it leaves the leg to other processes for this long. Then the leg
 * counts as over.
 */
const otherLineMs = 600_000
/**
 * The maximum number of unattended legs (connected by a transfer, without a process) in one search. Later searches find
 * the rest.
 */
const unattendedMax = 100
/** If a caller leaves at once, the hangup may arrive before the call is stored. The event is kept for this long. */
const earlyMs = 10_000
const earlyMax = 1000

export class PhoneCalls {
  readonly #deps: PhoneCallsDeps
  readonly #byLeg = new Map<string, LegHolder>()
  /** Calls that are not over, by call id. */
  readonly #live = new Map<string, PhoneCall>()
  readonly #seen = new Set<string>()
  /** Hangup events for unknown legs, by the carrier's leg id. */
  readonly #early = new Map<string, LegEvent>()
  /** Legs without a process at the last search, by id, each with the time when it was first found. */
  #suspects: ReadonlyMap<string, number> = new Map()
  readonly #questions: LegWork
  readonly #hangUps: LegWork

  constructor(deps: PhoneCallsDeps) {
    this.#deps = deps
    this.#questions = new LegWork(deps.clock, deps.log)
    this.#hangUps = new LegWork(deps.clock, deps.log)
  }

  /** Adds the call. From now on this process holds the call and its leg. */
  open(live: LiveCall, leg: Leg, line: PhoneLine): PhoneCall {
    const { media, legs, clock, log, journal } = this.#deps
    const over = () => {
      this.#live.delete(leg.callId)
      this.release(leg.id)
    }
    const deps = { line, media, legs, clock, log, over }
    const phone = new PhoneCall(deps, live, leg, journal.open(live.call))
    this.#live.set(leg.callId, phone)
    this.hold(phone)
    return phone
  }

  /** Delivers the leg's hangup if it arrived before the call was stored. */
  catchUp(phone: PhoneCall): void {
    const name = earlyName(phone.leg)
    const event = this.#early.get(name)
    this.#early.delete(name)
    if (event !== undefined) phone.event(event)
  }

  /** From now on, delivers the leg's events to this holder. */
  hold(holder: LegHolder): void {
    this.#byLeg.set(holder.leg.id, holder)
  }

  /** Called when the leg is over. Late events are still delivered to its holder for `lateMs`. */
  release(legId: string): void {
    this.#deps.clock.after(lateMs, () => this.#byLeg.delete(legId))
  }

  /** Returns null if this process holds no such call. */
  find({ organizationId, test }: Tenant, callId: string): PhoneCall | null {
    const phone = this.#live.get(callId)
    return phone?.leg.organizationId === organizationId && phone.leg.test === test ? phone : null
  }

  /**
   * Handles a carrier's event. If the leg is unknown and the event announces an inbound call, `takeInbound` receives
   * the event.
   */
  async received(line: LineName, event: LegEvent, takeInbound: TakeInbound): Promise<void> {
    if (this.#seen.has(nameOf(line, event))) return
    const here = event.legId === null ? undefined : this.#byLeg.get(event.legId)
    if (here !== undefined && here.leg.line === line) return this.#happened(here, event)
    const leg = await this.#deps.legs.find(line, event)
    if (leg !== null) return this.#passToOwner(leg, event)
    if (event.type === 'initiated' && event.direction === 'incoming') await this.#announced(line, event, takeInbound)
    else this.#unknown(line, event)
  }

  /** Delivers an event received by another process, or by this process before it held the call. */
  take(legId: string, line: LineName, event: LegEvent): void {
    const here = this.#byLeg.get(legId)
    if (here?.leg.line === line) this.#happened(here, event)
  }

  /** Asks the carriers, in the background, if legs still exist after a long time without events and audio. */
  look(): void {
    for (const holder of this.#byLeg.values()) this.#questions.begin(holder.leg, () => holder.look())
  }

  /**
   * Hangs up, in the background, legs without a living process: the process died, or the carrier did not answer an
   * earlier hangup command. A leg is hung up only if the previous search found it too, because after a database outage
   * every process's row has expired.
   */
  async hangUpOrphans(): Promise<void> {
    const { legs, clock } = this.#deps
    const orphans = await legs.orphans(orphanGraceMs, orphansMax)
    const [before, nowMs] = [this.#suspects, clock.monotonicMs()]
    this.#suspects = new Map(orphans.map(({ id }) => [id, before.get(id) ?? nowMs]))
    for (const leg of orphans) {
      const sinceMs = before.get(leg.id)
      if (sinceMs !== undefined) this.#hangUps.begin(leg, () => this.#hangUpOrphan(leg, nowMs - sinceMs))
    }
  }

  /**
   * Asks the carriers, in the background, about open legs if a transfer has connected them and their call has ended. No
   * process follows these legs, so their hangup may have been missed.
   */
  async lookAtUnattended(): Promise<void> {
    const legs = await this.#deps.legs.unattended(unattendedMax)
    for (const leg of legs) this.#questions.begin(leg, () => this.#endUnlessAlive(leg))
  }

  /** Begins no more work on legs, and waits at most `waitMs` for running work, because it writes to the store. */
  async close(waitMs: number): Promise<void> {
    await Promise.all([this.#questions.close(waitMs), this.#hangUps.close(waitMs)])
  }

  async #endUnlessAlive(leg: OrphanedLeg): Promise<void> {
    const { legs, lines, clock, log } = this.#deps
    const { id: legId, callId, carrierLegId } = leg
    const line = lines.named(leg.line)
    if (carrierLegId === null || line === null) return
    try {
      if (await line.isAlive({ legId, carrierLegId })) return
      await legs.ended(leg, clock.nowMs())
      log.info({ legId, callId }, 'a leg has ended without an event')
    } catch (err) {
      log.warn({ err, legId, callId }, 'a line did not say whether a leg lives')
    }
  }

  async #hangUpOrphan(leg: OrphanedLeg, forMs: number): Promise<void> {
    const { legs, lines, clock, log } = this.#deps
    const { id: legId, callId } = leg
    // While this work waited, a newer search found that the leg has a process.
    if (!this.#suspects.has(legId)) return
    const line = lines.named(leg.line)
    // Another process may be connected to this carrier, or this process may be connected to it again after a restart.
    if (line === null && forMs < otherLineMs) return
    try {
      // If the carrier's id of the leg is unknown, the carrier is asked to find the leg. If the carrier dials the leg
      // later, this process hangs it up at its first event.
      const ref = refOf(leg) ?? (await line?.find(legId)) ?? null
      if (ref !== null) await line?.hangUp(ref)
      await legs.ended(leg, clock.nowMs())
      if (line === null) log.warn({ legId, callId }, 'no process has the line of a leg, which counts as over now')
      else log.info({ legId, callId }, 'a leg was hung up that no process holds')
    } catch (err) {
      log.warn({ err, legId, callId }, 'a leg that no process holds was not hung up')
    }
  }

  /** Delivers each event only once, although carriers repeat events and two processes may receive the same event. */
  #happened(holder: LegHolder, event: LegEvent): void {
    if (this.#isNew(holder.leg.line, event)) holder.event(event)
  }

  #isNew(line: LineName, event: LegEvent): boolean {
    const name = nameOf(line, event)
    if (this.#seen.has(name)) return false
    this.#seen.add(name)
    forgetOldest(this.#seen, seenMax)
    return true
  }

  async #announced(lineName: LineName, event: Announced, takeInbound: TakeInbound): Promise<void> {
    const line = this.#deps.lines.named(lineName)
    if (line === null || !this.#isNew(lineName, event)) return
    try {
      await takeInbound(line, event)
    } catch (error) {
      // Handling the event failed and the carrier will repeat it, so it must not count as seen.
      this.#seen.delete(nameOf(lineName, event))
      throw error
    }
  }

  #unknown(line: LineName, event: LegEvent): void {
    this.#deps.log.info({ line, type: event.type }, 'an event of a leg that is not known')
    if (event.type !== 'hangup') return this.#deps.countIgnored(line, 'unknown_leg')
    const { carrierLegId } = event
    // The call may have been stored after the search for its leg.
    const isOfLeg = ({ leg }: LegHolder) => leg.line === line && leg.carrierLegId === carrierLegId
    const here = [...this.#byLeg.values()].find(isOfLeg)
    if (here !== undefined) return this.#happened(here, event)
    const name = earlyName({ line, carrierLegId })
    this.#early.set(name, event)
    forgetOldest(this.#early, earlyMax)
    // An early hangup counts as unknown only if no call for it is stored in time.
    this.#deps.clock.after(earlyMs, () => {
      if (this.#early.delete(name)) this.#deps.countIgnored(line, 'unknown_leg')
    })
  }

  async #passToOwner(leg: Leg, event: LegEvent): Promise<void> {
    const { calls, commands } = this.#deps
    const tenant: Tenant = { organizationId: leg.organizationId, test: leg.test }
    const call = this.#byLeg.has(leg.id) ? null : await calls.find(tenant, leg.callId)
    const here = this.#byLeg.get(leg.id)
    if (here !== undefined) return this.#happened(here, event)
    if (call === null || call.ownerId === null || isTerminal(call.status)) return this.#hangUpLate(leg, event)
    const command = { kind: 'legEvent', legId: leg.id, line: leg.line, event } as const
    const reply = await commands.send(tenant, leg.callId, call.ownerId, command)
    if (reply === null) throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
  }

  /**
   * Handles an event for a leg whose call is over. If the dial command's answer was lost and the call failed, but the
   * carrier dialled after all, the leg is hung up.
   */
  async #hangUpLate(leg: Leg, { type, carrierLegId, occurredAtMs }: LegEvent): Promise<void> {
    const { lines, legs, log } = this.#deps
    // Two legs connected by a transfer may outlive their call's process, so their end is stored here.
    if (type === 'hangup') return legs.ended(leg, occurredAtMs)
    if (leg.carrierLegId !== null) return
    try {
      await lines.named(leg.line)?.hangUp({ legId: leg.id, carrierLegId })
    } catch (error) {
      if (!(error instanceof PhoneLineError)) throw error
      // The carrier repeats the event after this fault, and the hangup is tried again.
      throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1, cause: error })
    }
    await legs.dialed(leg, carrierLegId)
    log.info({ legId: leg.id, callId: leg.callId }, 'a leg was hung up whose call is over')
  }
}

const nameOf = (line: LineName, { id }: LegEvent) => `${line} ${id}`
const earlyName = ({ line, carrierLegId }: Pick<Leg, 'line' | 'carrierLegId'>) => `${line} ${carrierLegId}`

function forgetOldest(entries: Set<string> | Map<string, unknown>, max: number): void {
  if (entries.size <= max) return
  for (const oldest of entries.keys()) return void entries.delete(oldest)
}
