/**
 * At every moment the caller has exactly one of agent, hold and recipient, and no leg is left. A command is on its way for
 * a moment, so that something wrong may last for as long as that takes, or as the look for what was lost takes.
 */

import type { Call } from '../../../domain/calls/call.ts'
import { isOver } from '../../../domain/transfers/states.ts'
import type { ModelledAgent } from './agent.ts'
import { callerLegId, type SequenceCarrier } from './carrier.ts'
import type { Database } from './database.ts'
import type { Sequence } from './steps.ts'

/** Commands and events are on their way. */
const wayMs = 1_500
/** A leg that is silent is looked at after 30 s, by a look every 10 s. A line or a database may be away before. */
const lostMs = 90_000
/** Part of the contract, from the death of the process. */
const deadMs = 30_000
/** The agent ends its sentence first. */
const wordsMs = 9_000

/** The world, as far as the invariant looks at it. */
export type Watched = {
  clock: { monotonicMs(): number }
  carrier: Pick<SequenceCarrier, 'alive' | 'isAlive' | 'peerOf'>
  database: Pick<Database, 'transfers' | 'legs'>
  /** The process that holds the call. */
  owner: { life: { isAlive: boolean }; agent: ModelledAgent | null } | null
  call: Call | null
  /** A client or the lack of credit has ended the call. */
  isEndWanted: boolean
  /** The name of the leg has died with the process that knew it. */
  isUnnamed(carrierLegId: string): boolean
}

export class Invariant {
  readonly #world: Watched
  readonly #limitMs: number
  readonly #isClean: boolean
  /** Since when each of the wrong states lasts. */
  readonly #sinceMs = new Map<string, number>()
  failure: string | null = null

  constructor(world: Watched, sequence: Sequence) {
    this.#world = world
    this.#isClean = isClean(sequence)
    this.#limitMs = this.#isClean ? wayMs : lostMs
  }

  check(): void {
    for (const [text, isWrong, mostMs] of this.#states()) {
      const nowMs = this.#world.clock.monotonicMs()
      if (!isWrong) this.#sinceMs.delete(text)
      else if (!this.#sinceMs.has(text)) this.#sinceMs.set(text, nowMs)
      else if (nowMs - (this.#sinceMs.get(text) ?? 0) > mostMs) this.failure ??= `${text}, at ${nowMs} ms`
    }
  }

  /** A command to hang up this leg has reached the carrier. */
  hangsUp(carrierLegId: string): void {
    const { carrier, database, isEndWanted, owner } = this.#world
    if (isEndWanted || !carrier.isAlive(carrierLegId)) return
    const hasAgent = owner?.life.isAlive === true && owner.agent?.isEnded === false
    if (carrierLegId === callerLegId && hasAgent)
      this.failure ??= `a caller whose call goes on is cut, at ${this.#world.clock.monotonicMs()} ms`
    if (carrier.peerOf(carrierLegId) === null) return
    // A process that dies takes with it what it could not store.
    const isStored = [...database.transfers.values()].at(-1)?.status === 'completed'
    const isHandedOver = owner?.life.isAlive ? owner.agent?.where === 'gone' : isStored
    if (isHandedOver) this.failure ??= `two who talk are cut, at ${this.#world.clock.monotonicMs()} ms`
  }

  *#states(): Generator<[text: string, isWrong: boolean, mostMs: number]> {
    const { carrier, database, owner } = this.#world
    const agent = owner?.agent ?? null
    if (owner === null || agent === null) return
    const limitMs = this.#limitMs
    const isHeldHere = owner.life.isAlive && !agent.isEnded
    const hasCaller = carrier.isAlive(callerLegId)
    const isBridged = carrier.peerOf(callerLegId) !== null
    const { where } = agent
    const transfers = [...database.transfers.values()]
    const isOpen = transfers.some(({ status }) => !isOver(status))
    const recipients = [...carrier.alive].filter((id) => id !== callerLegId)
    yield ['the caller has the agent and a recipient', isHeldHere && isBridged && where === 'agent', limitMs]
    yield ['nobody has the caller', isHeldHere && hasCaller && !isBridged && where === 'gone', limitMs]
    yield ['the caller is on hold for nobody', isHeldHere && hasCaller && where === 'hold' && !isOpen, limitMs]
    yield ['the caller was told nothing', isHeldHere && hasCaller && where === 'agent' && agent.owesWords, wordsMs]
    yield ['the leg of the caller is left', owner.life.isAlive && agent.isEnded && hasCaller, limitMs]
    const isCallOver = (this.#world.call?.endedAtMs ?? null) !== null
    yield ['an attempt is open although its call is over', isCallOver && isOpen, 0]
    yield ['two recipients are called', recipients.length > 1, limitMs]
    const given = transfers.some(({ legId, status }) => {
      const name = database.legs.get(legId)?.carrierLegId ?? null
      return (status === 'failed' || status === 'cancelled') && name !== null && carrier.isAlive(name)
    })
    yield ['the leg of a recipient who was given up is left', owner.life.isAlive && given, limitMs]
    const isLeft = [...carrier.alive].some((id) => !this.#world.isUnnamed(id))
    const isOrphaned = !owner.life.isAlive && isLeft && transfers.at(-1)?.status !== 'completed'
    yield ['a leg of a dead process is left', isOrphaned, this.#isClean ? deadMs : lostMs]
  }
}

/** Nothing is lost or late in it but by the death of a process. */
function isClean({ weather, steps }: Sequence): boolean {
  if (weather !== 'calm') return false
  const faulty = ['database away', 'line fails', 'stream lost']
  return !steps.some((step) => {
    if (faulty.includes(step.does)) return true
    // The carrier loses or delays the events of these numbers.
    return 'asked' in step && /\+150055500(22|23)/.test(JSON.stringify(step.asked))
  })
}
