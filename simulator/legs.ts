/** Holds the simulated carrier's legs: open legs, whose audio it plays, and for a while ended legs. */
import { Ticker } from '../runtime/timing/ticker.ts'
import type { Leg } from './leg.ts'
import type { SimulatorClock } from './media/clock.ts'
import { endedCall, invalid, tooManyCalls, unknownCall } from './refusal.ts'

const legsMax = 500
/** An ended leg can be queried for this long. At most `endedMax` ended legs are remembered. */
const endedMs = 600_000
const endedMax = 2000
/** The default and the highest page size in the list with open calls. */
const activeUsual = 20
const activeMax = 250

export class Legs {
  readonly #clock: SimulatorClock
  readonly #open = new Map<string, Leg>()
  readonly #answered = new Set<Leg>()
  /** The ended legs, the earliest end first. */
  readonly #ended = new Map<string, Leg>()
  /** Maps a dial command's `command_id` to the dialled leg's id. */
  readonly #dialled = new Map<string, string>()
  readonly #ticker: Ticker

  constructor(clock: SimulatorClock) {
    this.#clock = clock
    this.#ticker = new Ticker(clock, () => this.#playFrame())
  }

  /** The number of open legs. */
  get size(): number {
    return this.#open.size
  }

  add(leg: Leg): Leg {
    if (this.#open.size >= legsMax) throw tooManyCalls()
    this.#open.set(leg.id, leg)
    if (leg.commandId !== null) this.#dialled.set(leg.commandId, leg.id)
    return leg
  }

  /** Moves a leg that has ended to the ended legs, and forgets the oldest of them. */
  ended(leg: Leg): void {
    this.#open.delete(leg.id)
    this.#ended.set(leg.id, leg)
    const oldMs = this.#clock.nowMs() - endedMs
    for (const [id, { endedAtMs, commandId }] of this.#ended) {
      if (this.#ended.size <= endedMax && (endedAtMs ?? 0) >= oldMs) break
      this.#ended.delete(id)
      if (commandId !== null) this.#dialled.delete(commandId)
    }
  }

  /** Returns the open leg. Throws if it is unknown or has ended. */
  find(id: string): Leg {
    const leg = this.#open.get(id)
    if (leg) return leg
    throw this.#ended.has(id) ? endedCall() : unknownCall()
  }

  /** Returns the id of the leg that a dial command with this id has dialled. */
  dialledBy(commandId: string): string | undefined {
    return this.#dialled.get(commandId)
  }

  /** Plays an answered leg's audio until the leg ends. */
  play(leg: Leg): void {
    this.#answered.add(leg)
    this.#ticker.start()
  }

  /** Describes an open or ended leg, in the fields of the carrier's API. */
  retrieve(id: string): object {
    const leg = this.#open.get(id) ?? this.#ended.get(id)
    if (!leg) throw unknownCall()
    const { startedAtMs, answeredAtMs, endedAtMs, clientState } = leg
    const untilMs = endedAtMs ?? this.#clock.nowMs()
    return {
      record_type: 'call',
      call_control_id: leg.id,
      call_leg_id: leg.callLegId,
      call_session_id: leg.details.callSessionId,
      is_alive: leg.state !== 'ended',
      ...(clientState !== null && { client_state: clientState }),
      call_duration: answeredAtMs === null ? 0 : Math.floor((untilMs - answeredAtMs) / 1000),
      start_time: new Date(startedAtMs).toISOString(),
      ...(endedAtMs !== null && { end_time: new Date(endedAtMs).toISOString() }),
    }
  }

  /** Lists a connection's open legs, the oldest first. */
  listActive(connectionId: string, query: URLSearchParams): object {
    const limit = Number(query.get('page[limit]') ?? activeUsual)
    if (!Number.isInteger(limit) || limit < 1 || limit > activeMax) throw invalid('page[limit]')
    const all = [...this.#open.values()].filter(({ details }) => details.connectionId === connectionId)
    const after = query.get('page[after]')
    const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
    const legs = all.slice(from, from + limit)
    const last = legs.at(-1)?.id ?? ''
    const isLast = from + legs.length >= all.length
    const path = `/v2/connections/${encodeURIComponent(connectionId)}/active_calls`
    const next = isLast ? null : `${path}?${new URLSearchParams({ 'page[after]': last }).toString()}`
    const cursors = { after: last, before: legs[0]?.id ?? '' }
    return {
      data: legs.map(({ id }) => this.retrieve(id)),
      meta: { cursors, total_items: all.length, next, previous: null },
    }
  }

  /** Ends each open leg with `end`, and stops playing. */
  close(end: (leg: Leg) => void): void {
    for (const leg of [...this.#open.values()]) end(leg)
    this.#ticker.stop()
  }

  #playFrame(): boolean {
    for (const leg of this.#answered) if (leg.state === 'ended') this.#answered.delete(leg)
    for (const leg of this.#answered) leg.advance()
    for (const leg of this.#answered) leg.playFrame()
    return this.#answered.size > 0
  }
}
