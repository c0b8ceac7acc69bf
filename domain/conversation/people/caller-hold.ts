/**
 * The hold of a caller whose call is transferred.
 *
 *   with agent ──► leaving ──► held ──► gone      the recipient has the caller
 *       ▲             │         │
 *       └─────────────┴─────────┘                 nobody was reached
 *
 * While it is leaving, the agent ends its sentence and begins no other one. On hold, nobody receives the caller. A hold
 * that is wanted before the agent has said what follows the one before waits for that: it would be lost.
 */
import type { Clock } from '../../ports/system.ts'
import type { HoldSound } from '../parts/transferable.ts'

export type CallerHoldEvents = {
  /** The agent ends with the sentence under way. False: it says none. */
  endSentence(): boolean
  /** The agent has the turn. */
  agentSpeaks(): boolean
  /** The agent has to say something that may not be interrupted, and has not begun. */
  awaitsText(): boolean
  /** Null: the agent again. */
  changed(sound: HoldSound | null): void
}

/** Part of the contract. */
const sentenceMs = 5_000

export class CallerHold {
  readonly #clock: Clock
  readonly #events: CallerHoldEvents
  #phase: 'with agent' | 'leaving' | 'held' | 'gone' = 'with agent'
  #enter = () => {}
  /** Waits for a sentence that is under way. */
  #goOn: (() => void) | null = null
  #cancel = () => {}
  /** Waits until the agent says what follows the hold before. */
  #next: (() => void) | null = null
  #cancelNext = () => {}

  constructor(clock: Clock, events: CallerHoldEvents) {
    this.#clock = clock
    this.#events = events
  }

  /** Nobody receives the caller. */
  get isHeld(): boolean {
    return this.#phase === 'held' || this.#phase === 'gone'
  }

  get isGone(): boolean {
    return this.#phase === 'gone'
  }

  begin(sound: HoldSound, held: () => void): void {
    if (this.#phase !== 'with agent') return
    const leave = () => this.#leave(sound, held)
    if (!this.#isReturning) return leave()
    this.#next = leave
    this.#cancelNext = this.#clock.after(sentenceMs, leave)
  }

  get #isReturning(): boolean {
    return this.#goOn !== null || this.#events.awaitsText()
  }

  #leave(sound: HoldSound, held: () => void): void {
    this.#dropNext()
    this.#cancel()
    this.#goOn = null
    this.#phase = 'leaving'
    this.#enter = () => {
      this.#cancel()
      this.#phase = 'held'
      this.#events.changed(sound)
      held()
    }
    this.#cancel = this.#clock.after(sentenceMs, () => this.#enter())
    if (!this.#events.endSentence()) this.#enter()
  }

  #dropNext(): void {
    this.#cancelNext()
    this.#next = null
  }

  /** The turn of the conversation has passed on. */
  moved(): void {
    if (this.#next !== null) this.#clock.after(0, () => !this.#isReturning && this.#next?.())
    if (this.#events.agentSpeaks()) return
    if (this.#phase === 'leaving') return this.#enter()
    if (this.#goOn === null) return
    // The turn that passes on is closed first: it would take the next one with it.
    this.#cancel()
    this.#cancel = this.#clock.after(0, this.#goOn)
  }

  /** The caller is with the agent again. `goOn` is called once, after a sentence that is under way. */
  end(goOn: () => void): void {
    this.#cancel()
    this.#dropNext()
    if (this.#phase === 'gone') return
    const wasHeld = this.#phase === 'held'
    this.#phase = 'with agent'
    if (wasHeld) this.#events.changed(null)
    this.#goOn = () => {
      this.#cancel()
      this.#goOn = null
      goOn()
    }
    if (this.#events.agentSpeaks()) this.#cancel = this.#clock.after(sentenceMs, this.#goOn)
    else this.#goOn()
  }

  handOver(): void {
    this.#cancel()
    this.#dropNext()
    this.#phase = 'gone'
  }
}
