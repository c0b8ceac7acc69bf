/**
 * The faults injected into a random sequence of transfer events. Each kind draws from a separate random generator, so
 * leaving one kind out does not change the others.
 */
import { random } from '../../random.ts'
import type { FaultKind, Tolerance } from './tolerance.ts'

export type Weather = 'calm' | 'late events' | 'storm'

export class Faults {
  readonly #draw: Readonly<Record<'event' | 'command' | 'row' | 'way', () => number>>
  readonly #clock: { nowMs(): number }
  #weather: Weather
  #databaseUntilMs = 0
  #lineUntilMs = 0
  #eventsUntilMs = 0
  #lineFails: CommandFault = 'unreachable'
  readonly #tolerance: Tolerance

  constructor(seed: number, weather: Weather, clock: { nowMs(): number }, tolerance: Tolerance) {
    this.#weather = weather
    this.#tolerance = tolerance
    this.#clock = clock
    this.#draw = { event: random(seed + 1), command: random(seed + 2), row: random(seed + 3), way: random(seed + 4) }
  }

  /** Ends all faults, so from now on everything works. */
  heal(): void {
    this.#weather = 'calm'
    this.#databaseUntilMs = 0
    this.#lineUntilMs = 0
    this.#eventsUntilMs = 0
  }

  databaseAway(ms: number): void {
    this.#databaseUntilMs = this.#clock.nowMs() + ms
  }

  lineFails(ms: number, how: CommandFault): void {
    this.#lineUntilMs = this.#clock.nowMs() + ms
    this.#lineFails = how
  }

  eventsAreLost(ms: number): void {
    this.#eventsUntilMs = this.#clock.nowMs() + ms
  }

  /** Returns a random delay from 0 to `mostMs`. Most delays are near 0. */
  delayMs(mostMs: number): number {
    return Math.floor(this.#draw.way() ** 2 * mostMs)
  }

  /** Returns true in every second case, on average. */
  either(): boolean {
    return this.#draw.way() < 0.5
  }

  /** Notes a fault. `leg` is the carrier's id for the leg. Null if the fault may concern every leg. */
  happened(kind: FaultKind, leg: string | null): void {
    this.#tolerance.happened(kind, leg)
  }

  ofEvent(): EventFault {
    const which = this.#draw.event()
    if (this.#clock.nowMs() < this.#eventsUntilMs) return 'lost'
    if (this.#weather === 'calm') return 'none'
    if (which < 0.08) return 'doubled'
    if (which < 0.18) return 'late'
    if (which < 0.24) return 'swapped'
    return which < 0.29 ? 'lost' : 'none'
  }

  ofCommand({ does, leg }: SentCommand): CommandFault | 'none' {
    const fault = this.#drawCommand()
    const isAnswered = fault === 'unreachable' || fault === 'server'
    const kind = `${isAnswered ? 'refused' : 'unanswered'} ${does}` as const
    if (fault !== 'none') this.happened(kind, leg)
    return fault
  }

  #drawCommand(): CommandFault | 'none' {
    const which = this.#draw.command()
    if (this.#clock.nowMs() < this.#lineUntilMs) return this.#lineFails
    if (this.#weather !== 'storm') return 'none'
    return commandFaults[Math.floor(which * 40)] ?? 'none'
  }

  ofRow(): RowFault {
    const fault = this.#drawRow()
    if (fault !== 'none') this.happened('failed statement', null)
    return fault
  }

  #drawRow(): RowFault {
    const which = this.#draw.row()
    if (this.#clock.nowMs() < this.#databaseUntilMs) return 'away'
    if (this.#weather !== 'storm') return 'none'
    if (which < 0.02) return 'away'
    return which < 0.03 ? 'answer lost' : 'none'
  }
}

export type EventFault = 'none' | 'doubled' | 'late' | 'swapped' | 'lost'
export const commandFaults = ['unreachable', 'server', 'answer late', 'answer lost'] as const
/** `leg` is the carrier's id for the leg. Null if the command is for an unknown leg, or for two legs. */
export type SentCommand = {
  does: 'dial' | 'hangup' | 'hangup of an orphan' | 'question' | 'command'
  leg: string | null
}
/** The fault `answer slow` stays within the 5 s for a dial request. Only sequences written by hand use it. */
export type CommandFault = (typeof commandFaults)[number] | 'answer slow'
type RowFault = 'none' | 'away' | 'answer lost'
