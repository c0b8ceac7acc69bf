/**
 * Puts a caller on hold while the call is transferred.
 *
 *   with agent ──► leaving ──► held ──► gone      the recipient has the caller
 *       ▲             │         │
 *       └─────────────┴─────────┘                 the recipient was not reached
 *
 * While leaving, the agent ends its sentence and begins no other sentence. On hold, the caller's audio is not used. If
 * another hold is requested before the agent has said its words after the last hold, it waits for these words, because
 * they would be lost otherwise.
 */
import type { Clock } from '../../ports/system.ts'
import type { HoldSound } from '../parts/transferable.ts'

export type CallerHoldEvents = {
  /** The agent stops after the current sentence. False if it is not in a sentence. */
  endSentence(): boolean
  /** The agent has the turn. */
  agentSpeaks(): boolean
  /** True if the agent must say a text without interruption and has not begun. */
  awaitsText(): boolean
  /** If null, the caller is with the agent again. */
  changed(sound: HoldSound | null): void
}

/** Part of the contract. */
const sentenceMs = 5_000

export class CallerHold {
  readonly #clock: Clock
  readonly #events: CallerHoldEvents
  #phase: 'with agent' | 'leaving' | 'held' | 'gone' = 'with agent'
  #enter = () => {}
  /** Set while it waits for the current sentence to end. */
  #goOn: (() => void) | null = null
  #cancel = () => {}
  /** Set while the next hold waits for the agent's words after the last hold. */
  #next: (() => void) | null = null
  #cancelNext = () => {}

  constructor(clock: Clock, events: CallerHoldEvents) {
    this.#clock = clock
    this.#events = events
  }

  /** True if the caller's audio is not used. */
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

  /** The turn has passed to the other side. */
  moved(): void {
    if (this.#next !== null) this.#clock.after(0, () => !this.#isReturning && this.#next?.())
    if (this.#events.agentSpeaks()) return
    if (this.#phase === 'leaving') return this.#enter()
    if (this.#goOn === null) return
    // The old turn must close first. Otherwise it would close the next turn too.
    this.#cancel()
    this.#cancel = this.#clock.after(0, this.#goOn)
  }

  /** The caller is with the agent again. Calls `goOn` once, after any sentence under way. */
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
