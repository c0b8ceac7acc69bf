/**
 * Delays work until it is known how much of an interrupted turn was played: first the last sample is determined, then
 * the last word if the voice reports no word timings.
 *
 *   begin ──► the client answers `clear` ────► the words are found ──► settled
 *             or `clearedMs` have passed
 *     └─────────────── `settledMs` have passed ───────────────────────────┘
 */
import type { Clock } from '../../ports/system.ts'
import type { AgentTurn } from './agent-turn.ts'

/** Waits this long for the client's answer to a `clear` message. */
const clearedMs = 300
/**
 * The maximum time from the interruption until the delayed work runs. The user usually still speaks during this time,
 * so the agent is late only after short or typed turns.
 */
const settledMs = 400

export type SettlingDeps = {
  clock: Clock
  playout: { readonly awaitsCleared: boolean }
  defect: (error: unknown) => void
}

export class Settling {
  readonly #deps: SettlingDeps
  #waiting: (() => void)[] | null = null
  #turn: Pick<AgentTurn, 'findPlayed'> | null = null
  #finding: AbortController | null = null
  #cancelCleared: (() => void) | null = null
  #cancelSettled: (() => void) | null = null

  constructor(deps: SettlingDeps) {
    this.#deps = deps
  }

  get isUnderWay(): boolean {
    return this.#waiting !== null
  }

  /**
   * Begins to determine how much of this turn was played, after its playout was stopped. `settled` is the first work to
   * run afterwards.
   */
  begin(turn: Pick<AgentTurn, 'findPlayed'>, settled: () => void): void {
    this.settle()
    this.#waiting = [settled]
    this.#turn = turn
    const { clock, playout } = this.#deps
    this.#cancelSettled = clock.after(settledMs, () => this.settle())
    if (playout.awaitsCleared) this.#cancelCleared = clock.after(clearedMs, () => this.cleared())
    else this.cleared()
  }

  /** Call this when the last played sample is known. */
  cleared(): void {
    const turn = this.#turn
    if (turn === null) return
    this.#turn = null
    this.#cancelCleared?.()
    const finding = new AbortController()
    const search = turn.findPlayed(finding.signal)
    if (search === null) return this.settle()
    this.#finding = finding
    search.then(() => !finding.signal.aborted && this.settle()).catch((error: unknown) => this.#deps.defect(error))
  }

  /** Stops the search for the last word and runs the delayed work. */
  settle(): void {
    const waiting = this.#waiting
    this.#waiting = this.#turn = null
    this.#cancelCleared?.()
    this.#cancelSettled?.()
    this.#finding?.abort()
    this.#finding = null
    for (const run of waiting ?? []) run()
  }

  /** Runs the work when the interrupted turn's played part is known, or now if it is known already. */
  afterwards(run: () => void): void {
    if (this.#waiting === null) run()
    else this.#waiting.push(run)
  }
}
