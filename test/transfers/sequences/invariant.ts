/**
 * At every moment the caller has exactly one party: agent, hold or recipient. No leg is left. While a command is on its
 * way, the state may be wrong for the command's time. After a fault, it may be wrong up to the fault's limit.
 */

import type { Call } from '../../../domain/records/call.ts'
import type { Leg } from '../../../domain/records/leg.ts'
import { isOver } from '../../../domain/records/states/transfer.ts'
import type { Transfer } from '../../../domain/records/transfer.ts'
import type { ModelledAgent } from './agent.ts'
import type { Database } from './database.ts'
import { callerLegId, type SequenceLine } from './line.ts'
import type { Tolerance } from './tolerance.ts'

/** A state may be wrong for this long, because commands and events are on their way. */
const wayMs = 1_500
/** A state may be wrong for this long while the agent finishes its sentence. */
const wordsMs = 9_000

/** The simulated parts that the invariant checks. */
export type Watched = {
  clock: { monotonicMs(): number }
  carrier: Pick<SequenceLine, 'name' | 'alive' | 'isAlive' | 'peerOf'>
  database: Pick<Database, 'transfers' | 'legs'>
  /** The process that holds the call. */
  owner: { life: { isAlive: boolean }; agent: ModelledAgent | null } | null
  call: Call | null
  /** True if a client has requested the call's end, or the credit is exhausted. */
  isEndWanted: boolean
  /** True if the phone line has ended the leg, or never dialled it. */
  isGone(leg: Pick<Leg, 'id' | 'carrierLegId'>): boolean
  /** True if the process that dialled the leg has died, and no other process knows the phone line's id for the leg. */
  isUnnamed(carrierLegId: string): boolean
}

export class Invariant {
  readonly #world: Watched
  readonly #tolerance: Tolerance
  /** The time at which each wrong state began. */
  readonly #sinceMs = new Map<string, number>()
  failure: string | null = null

  constructor(world: Watched, tolerance: Tolerance) {
    this.#world = world
    this.#tolerance = tolerance
  }

  check(): void {
    const nowMs = this.#world.clock.monotonicMs()
    const wrong = new Map(this.#wrong())
    for (const text of this.#sinceMs.keys()) if (!wrong.has(text)) this.#sinceMs.delete(text)
    for (const [text, { mostMs, legs }] of wrong) {
      const sinceMs = this.#sinceMs.get(text) ?? nowMs
      this.#sinceMs.set(text, sinceMs)
      const fromMs = Math.max(sinceMs, this.#tolerance.untilMs(legs))
      if (nowMs - fromMs > mostMs) this.failure ??= `${text}, at ${nowMs} ms, since ${sinceMs} ms`
    }
  }

  /** Notes that a command to hang up this leg has reached the carrier. */
  hangsUp(carrierLegId: string): void {
    const { carrier, database, isEndWanted, owner } = this.#world
    if (isEndWanted || !carrier.isAlive(carrierLegId)) return
    const hasAgent = owner?.life.isAlive === true && owner.agent?.isEnded === false
    if (carrierLegId === callerLegId && hasAgent)
      this.failure ??= `a caller whose call goes on is cut, at ${this.#world.clock.monotonicMs()} ms`
    if (carrier.peerOf(carrierLegId) === null) return
    // The audio of both legs went through the dead process, so both legs end.
    if (carrier.name === 'trunk' && owner?.life.isAlive !== true) return
    // If a process dies, its unstored changes are lost.
    const isStored = [...database.transfers.values()].at(-1)?.status === 'completed'
    const isHandedOver = owner?.life.isAlive ? owner.agent?.where === 'gone' : isStored
    if (isHandedOver) this.failure ??= `two who talk are cut, at ${this.#world.clock.monotonicMs()} ms`
  }

  *#wrong(): Generator<[text: string, wrong: Wrong]> {
    const { carrier, database, owner } = this.#world
    const agent = owner?.agent ?? null
    if (owner === null || agent === null) return
    const isHeldHere = owner.life.isAlive && !agent.isEnded
    const hasCallerHere = isHeldHere && carrier.isAlive(callerLegId)
    const peer = carrier.peerOf(callerLegId)
    const { where } = agent
    const transfers = [...database.transfers.values()]
    const isOpen = transfers.some(({ status }) => !isOver(status))
    // A recipient's faults still count after the recipient has left.
    const legs = [callerLegId, ...[...database.legs.values()].flatMap(({ carrierLegId }) => carrierLegId ?? [])]
    const wrong = (text: string, mostMs = wayMs): [string, Wrong] => [text, { mostMs, legs }]
    if (isHeldHere && peer !== null && where === 'agent') yield wrong('the caller has the agent and a recipient')
    if (hasCallerHere && peer === null && where === 'gone') yield wrong('nobody has the caller')
    if (hasCallerHere && where === 'hold' && !isOpen) yield wrong('the caller is on hold for nobody')
    if (hasCallerHere && where === 'agent' && agent.owesWords) yield wrong('the caller was told nothing', wordsMs)
    const isCallOver = (this.#world.call?.endedAtMs ?? null) !== null
    if (isCallOver && isOpen) yield ['an attempt is open although its call is over', { mostMs: 0, legs: [] }]
    yield* this.#leftLegs(owner.life.isAlive, agent, transfers)
  }

  *#leftLegs(
    isOwnerAlive: boolean,
    agent: ModelledAgent,
    transfers: readonly Transfer[],
  ): Generator<[text: string, wrong: Wrong]> {
    const { carrier, database } = this.#world
    const left = (text: string, id: string): [string, Wrong] => [`${text}: ${id}`, { mostMs: wayMs, legs: [id] }]
    const recipients = [...carrier.alive].filter((id) => id !== callerLegId)
    if (recipients.length > 1) yield ['two recipients are called', { mostMs: wayMs, legs: recipients }]
    if (!isOwnerAlive && (carrier.name === 'trunk' || transfers.at(-1)?.status !== 'completed'))
      for (const id of carrier.alive) if (!this.#world.isUnnamed(id)) yield left('a leg of a dead process is left', id)
    if (!isOwnerAlive) return
    if (agent.isEnded && carrier.isAlive(callerLegId)) yield left('the leg of the caller is left', callerLegId)
    for (const { legId, status } of transfers) {
      const leg = database.legs.get(legId)
      const name = leg?.carrierLegId ?? null
      // While two parties are connected, the phone line is first asked whether the caller is there.
      if (leg !== undefined && !isOver(status) && this.#world.isGone(leg))
        yield [
          `an attempt goes on whose recipient is gone: ${name ?? legId}`,
          { mostMs: wayMs, legs: [name ?? legId, callerLegId] },
        ]
      if ((status === 'failed' || status === 'cancelled') && name !== null && carrier.isAlive(name))
        yield left('the leg of a recipient who was given up is left', name)
    }
  }
}

/** A state may be wrong for `mostMs`, or longer after a fault on one of these legs. */
type Wrong = { mostMs: number; legs: readonly string[] }
