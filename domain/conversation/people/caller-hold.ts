/**
 * Puts a caller on hold while the call is transferred.
 *
 *   with agent ──► leaving ──► held ──► gone      the recipient has the caller
 *       ▲             │         │
 *       └─────────────┴─────────┘                 the recipient was not reached
 *
 * While leaving, the agent ends its sentence and begins no other sentence. On hold, the caller's audio is ignored.
 * After a hold the agent has something to say. If another hold is requested before that, the new hold waits until the
 * agent has said these words, because otherwise they would be lost.
 */
import type { Clock } from '../../ports/system.ts'
import type { HoldSound } from '../parts/transferable.ts'

export type CallerHoldEvents = {
  /** Makes the agent stop after the current sentence. Returns false if the agent is not in a sentence. */
  endSentence(): boolean
  /** Returns true if it is the agent's turn. */
  agentSpeaks(): boolean
  /** Returns true if an uninterruptible agent text still waits to be spoken. */
  awaitsText(): boolean
  /** Called when a hold begins or ends. If `sound` is null, the caller is with the agent again. */
  changed(sound: HoldSound | null): void
}

/** The time limit for the agent's sentence before a hold, fixed in the API contract. */
const sentenceMs = 5_000

export class CallerHold {
  readonly #clock: Clock
  readonly #events: CallerHoldEvents
  #phase: 'with agent' | 'leaving' | 'held' | 'gone' = 'with agent'
  #enter = () => {}
  /** Continues the conversation after a hold. Set from the hold's end until the agent's current sentence has ended. */
  #goOn: (() => void) | null = null
  #cancel = () => {}
  /** Begins a further hold. Set while that hold waits until the agent has spoken after the previous hold. */
  #next: (() => void) | null = null
  #cancelNext = () => {}

  constructor(clock: Clock, events: CallerHoldEvents) {
    this.#clock = clock
    this.#events = events
  }

  /** Returns true if the caller's audio is ignored. */
  get isHeld(): boolean {
    return this.#phase === 'held' || this.#phase === 'gone'
  }

  /** Returns true from the request for a hold until the hold's end. */
  get isRequested(): boolean {
    return this.#next !== null || this.#phase === 'leaving' || this.#phase === 'held'
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

  /** Goes on if the agent has ended its sentence. Call this when the turn may have passed to the user. */
  advance(): void {
    if (this.#next !== null) this.#clock.after(0, () => !this.#isReturning && this.#next?.())
    if (this.#events.agentSpeaks()) return
    if (this.#phase === 'leaving') return this.#enter()
    if (this.#goOn === null) return
    // The old turn must be closed first. Without this delay, closing it would also close the next turn.
    this.#cancel()
    this.#cancel = this.#clock.after(0, this.#goOn)
  }

  /** Returns the caller to the agent. Calls `goOn` once, after the current sentence if the agent is speaking. */
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
