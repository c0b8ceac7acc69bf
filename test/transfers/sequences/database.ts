/** One call's rows, as Postgres keeps them. A statement may fail before or after it was carried out. */

import { applyEntries } from '../../../domain/calls/apply.ts'
import type { Call, CallEntry, CallEvent } from '../../../domain/records/call.ts'
import { Fault } from '../../../domain/records/fault.ts'
import type { Leg, OrphanedLeg } from '../../../domain/records/leg.ts'
import { endStatus, isTerminal } from '../../../domain/records/states/call.ts'
import { isOver } from '../../../domain/records/states/transfer.ts'
import type { Transfer } from '../../../domain/records/transfer.ts'
import type { TestClock } from '../../clock.ts'
import type { Faults } from './faults.ts'
import { type Life, never } from './life.ts'

export type StoredLeg = Leg & { bridgedAtMs: number | null }

/** A process that has not renewed its row for this long counts as dead (`idempotency.leaseMs`). */
const aliveMs = 10_000
const statementMs = 20

export class Database {
  readonly calls = new Map<string, Call>()
  readonly legs = new Map<string, StoredLeg>()
  readonly transfers = new Map<string, Transfer>()
  /** The call's events, in order. */
  readonly events: CallEvent[] = []
  readonly #clock: TestClock
  readonly #faults: Faults
  readonly #tell: (text: string) => void
  readonly #aliveUntilMs = new Map<string, number>()
  readonly #eventIds = new Set<string>()

  constructor(clock: TestClock, faults: Faults, tell: (text: string) => void) {
    this.#clock = clock
    this.#faults = faults
    this.#tell = tell
  }

  /** Runs one transaction for a process. */
  async run<T>(life: Life, statement: () => T): Promise<T> {
    if (!life.isAlive) return never()
    const fault = this.#faults.ofRow()
    const delayMs = this.#faults.delayMs(statementMs)
    if (delayMs > 5) await this.#clock.wait(delayMs)
    if (fault === 'away') throw new Fault({ kind: 'store_unreachable' })
    if (!life.isAlive && this.#faults.either()) return never()
    const result = statement()
    if (!life.isAlive) return never()
    if (fault === 'answer lost') throw new Fault({ kind: 'store_unreachable' })
    return result
  }

  /** Event types, with the cause if the event is a failure. */
  get eventTypes(): string[] {
    return this.events.map(({ type, failureCause }) => (failureCause === null ? type : `${type} ${failureCause}`))
  }

  renew(ownerId: string): void {
    this.#aliveUntilMs.set(ownerId, this.#clock.nowMs() + aliveMs)
  }

  append(callId: string, entries: readonly CallEntry[]): readonly CallEntry[] {
    const call = this.calls.get(callId)
    if (call === undefined) return entries
    const applied = applyEntries(call, entries, (id) => this.#eventIds.has(id), this.#clock.nowMs())
    this.calls.set(callId, applied.call)
    for (const { id } of applied.events) this.#eventIds.add(id)
    this.events.push(...applied.events)
    for (const transfer of applied.transfers) this.#store(transfer)
    return applied.refused
  }

  #store(transfer: Transfer): void {
    const { id, status, failureCause, legId, fallback } = transfer
    this.#tell(`${id} ${status} ${failureCause ?? ''} ${legId} ${fallback?.action ?? ''}`)
    this.transfers.set(transfer.id, transfer)
    if (transfer.status !== 'completed') return
    for (const leg of this.legs.values())
      if (leg.id === transfer.legId || leg.party === 'caller') leg.bridgedAtMs ??= transfer.updatedAtMs
  }

  changeLeg(id: string, change: (leg: StoredLeg) => void): void {
    const leg = this.legs.get(id)
    if (leg !== undefined) change(leg)
  }

  isDead(ownerId: string | null): boolean {
    return ownerId !== null && (this.#aliveUntilMs.get(ownerId) ?? 0) <= this.#clock.nowMs()
  }

  /** Returns the same legs as the store's statement. */
  orphans(graceMs: number): OrphanedLeg[] {
    const before = this.#clock.nowMs() - graceMs
    const legs = [...this.legs.values()]
    const hasLeft = legs.some(({ bridgedAtMs, endedAtMs }) => bridgedAtMs !== null && isUntil(endedAtMs, before))
    return legs.filter((leg) => {
      const call = this.calls.get(leg.callId)
      if (leg.endedAtMs !== null || call === undefined) return false
      const isCut = call.endedAtMs !== null && call.endReason !== 'transferred'
      if (leg.line !== 'trunk' && leg.bridgedAtMs !== null && !isCut && !hasLeft) return false
      if (isUntil(call.endedAtMs, before)) return true
      if (this.isDead(call.ownerId)) return true
      return [...this.transfers.values()].some(
        ({ legId, status, completedAtMs }) =>
          legId === leg.id && ['failed', 'cancelled'].includes(status) && isUntil(completedAtMs, before),
      )
    })
  }

  unattended(): OrphanedLeg[] {
    return [...this.legs.values()].filter(
      ({ endedAtMs, bridgedAtMs, callId, line }) =>
        line !== 'trunk' &&
        endedAtMs === null &&
        bridgedAtMs !== null &&
        (this.calls.get(callId)?.endedAtMs ?? null) !== null,
    )
  }

  /** Ends the calls of dead processes. `suspects` are calls that had no live process at the previous check. */
  endOrphans(suspects: ReadonlySet<string>): string[] {
    const due = [...this.calls.values()].filter((call) => !isTerminal(call.status) && this.isDead(call.ownerId))
    for (const call of due) if (suspects.has(call.id)) this.#end(call)
    return due.map(({ id }) => id)
  }

  #end(call: Call): void {
    const nowMs = this.#clock.nowMs()
    const open = [...this.transfers.values()].filter(({ status }) => !isOver(status))
    const isHandedOver = [...this.transfers.values()].at(-1)?.status === 'completed'
    for (const transfer of open)
      this.#store({
        ...transfer,
        status: 'failed',
        failureCause: 'carrier_error',
        updatedAtMs: nowMs,
        completedAtMs: nowMs,
      })
    const endReason = isHandedOver ? 'transferred' : 'worker_lost'
    const status = endStatus(call.status, endReason)
    if (status === null) throw new Error(`a call that is ${call.status} cannot end for ${endReason}`)
    this.calls.set(call.id, { ...call, status, endReason, endedAtMs: nowMs })
  }
}

const isUntil = (ms: number | null, lastMs: number) => ms !== null && ms <= lastMs
