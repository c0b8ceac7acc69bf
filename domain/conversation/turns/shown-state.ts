import type { AgentState, MediaTransport, SessionEvent } from '../../ports/media.ts'
import { stateOf, type TurnPhase } from './turn-machine.ts'

/** Shows the state of the agent when the state changes. */
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

  /** Shows a person who joins the state of this moment. */
  showTo(media: MediaTransport, phase: TurnPhase): void {
    media.notify({ type: 'state', state: stateOf[phase] })
  }

  /** A new socket has seen no state yet. */
  forget(): void {
    this.#shown = null
  }
}
