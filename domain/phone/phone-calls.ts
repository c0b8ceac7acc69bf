/** The calls by phone that this process holds, and the way of the events of their legs to them. */
import type { Tenant } from '../access/organization.ts'
import type { CallCommands } from '../calls/commands.ts'
import type { Journal } from '../calls/journal.ts'
import { isTerminal } from '../calls/states.ts'
import type { CallStore } from '../calls/store.ts'
import { Fault } from '../fault.ts'
import type { LegMedia } from '../ports/leg-media.ts'
import type { LegEvent, LegEvents, LineName, PhoneLine } from '../ports/phone-line.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { LiveCall } from '../sessions/live-call.ts'
import type { Leg, LegStore, OrphanedLeg } from './leg.ts'
import { PhoneCall } from './phone-call.ts'
import type { PhoneLines } from './ports.ts'

export type PhoneCallsDeps = {
  lines: PhoneLines
  media: LegMedia
  legs: LegStore
  calls: Pick<CallStore, 'find'>
  commands: Pick<CallCommands, 'send'>
  journal: Journal
  clock: Clock
  log: Log
}

/** Takes a call that a line announces. Resolves when it is stored. */
export type TakeInbound = (line: PhoneLine, event: Announced) => Promise<void>
export type Announced = Extract<LegEvent, { type: 'initiated' }>

/** Events that came last, by their ids. A line repeats an event within seconds or minutes. */
const seenMax = 20_000
/** A call that is over receives its late events for this long. */
const lateMs = 60_000
/** A call that ended keeps its legs for this long at most: its process hangs them up at once. */
const orphanGraceMs = 10_000
const orphansMax = 100

export class PhoneCalls implements LegEvents {
  readonly #deps: PhoneCallsDeps
  readonly #byLeg = new Map<string, PhoneCall>()
  readonly #seen = new Set<string>()
  #takeInbound: TakeInbound | null = null

  constructor(deps: PhoneCallsDeps) {
    this.#deps = deps
  }

  /** Before it, calls that come are not taken. */
  serve(takeInbound: TakeInbound): void {
    this.#takeInbound = takeInbound
  }

  /** This process holds the call from now on, and its leg. */
  open(live: LiveCall, leg: Leg, line: PhoneLine): PhoneCall {
    const { media, legs, clock, log, journal } = this.#deps
    const over = () => void clock.after(lateMs, () => this.#byLeg.delete(leg.id))
    const deps = { line, media, legs, clock, log, over }
    const phone = new PhoneCall(deps, leg, journal.open(live.call))
    this.#byLeg.set(leg.id, phone)
    return phone
  }

  async received(line: LineName, event: LegEvent): Promise<void> {
    const name = `${line} ${event.id}`
    if (this.#seen.has(name)) return
    this.#seen.add(name)
    try {
      await this.#pass(line, event)
    } catch (error) {
      // The line repeats it.
      this.#seen.delete(name)
      throw error
    }
    if (this.#seen.size > seenMax) for (const oldest of this.#seen) return void this.#seen.delete(oldest)
  }

  /** An event that another process has received. */
  take(legId: string, line: LineName, event: LegEvent): void {
    const name = `${line} ${event.id}`
    if (this.#seen.has(name)) return
    this.#seen.add(name)
    this.#byLeg.get(legId)?.event(event)
  }

  /** Asks the lines about legs that have shown no sign of life for a while. */
  async look(): Promise<void> {
    await Promise.all([...this.#byLeg.values()].map((phone) => phone.look()))
  }

  /** Hangs up the legs that nobody holds: those of a dead process, and those whose line did not answer before. */
  async hangUpOrphans(): Promise<void> {
    const { legs } = this.#deps
    for (const leg of await legs.orphans(orphanGraceMs, orphansMax)) await this.#hangUpOrphan(leg)
  }

  async #hangUpOrphan(leg: OrphanedLeg): Promise<void> {
    const { legs, lines, clock, log } = this.#deps
    const { id: legId, callId, carrierLegId } = leg
    try {
      if (carrierLegId !== null) await lines.named(leg.line)?.hangUp({ legId, carrierLegId })
      await legs.ended(leg, clock.nowMs())
      log.info({ legId, callId }, 'a leg was hung up that no process holds')
    } catch (err) {
      log.warn({ err, legId, callId }, 'a leg that no process holds was not hung up')
    }
  }

  async #pass(lineName: LineName, event: LegEvent): Promise<void> {
    const { legs, lines, log } = this.#deps
    const here = event.legId === null ? undefined : this.#byLeg.get(event.legId)
    if (here !== undefined && here.leg.line === lineName) return here.event(event)
    const leg = await legs.find(lineName, event)
    if (leg !== null) return this.#passToOwner(leg, lineName, event)
    const line = lines.named(lineName)
    if (event.type === 'initiated' && event.direction === 'incoming' && line !== null)
      await this.#takeInbound?.(line, event)
    else log.info({ line: lineName, type: event.type }, 'an event of a leg that is not known')
  }

  async #passToOwner(leg: Leg, line: LineName, event: LegEvent): Promise<void> {
    const here = this.#byLeg.get(leg.id)
    if (here !== undefined) return here.event(event)
    const { calls, commands } = this.#deps
    const tenant: Tenant = { organizationId: leg.organizationId, test: leg.test }
    const call = await calls.find(tenant, leg.callId)
    if (call === null || call.ownerId === null || isTerminal(call.status)) return
    const command = { kind: 'legEvent', legId: leg.id, line, event } as const
    const taken = await commands.send(tenant, leg.callId, call.ownerId, command)
    if (taken === null) throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
  }
}
