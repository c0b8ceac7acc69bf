import type { AgentState, MediaTransport, SessionEvent } from '../../ports/media.ts'
import { stateOf, type TurnPhase } from './turn-machine.ts'

/** Sends the agent's state to the session's browser page when the state changes. */
export class ShownState {
  readonly #notify: (event: SessionEvent) => void
  #shown: AgentState | null = null

  constructor(notify: (event: SessionEvent) => void) {
    this.#notify = notify
  }

  show(phase: TurnPhase): void {
    const state = stateOf[phase]
    if (state !== this.#shown) this.#notify({ type: 'state', state })
    this.#shown = state
  }

  /** Sends the current state to a person who joins. */
  showTo(media: MediaTransport, phase: TurnPhase): void {
    media.notify({ type: 'state', state: stateOf[phase] })
  }

  /** Forgets the last sent state, so that a new socket receives the current state. */
  forget(): void {
    this.#shown = null
  }
}
