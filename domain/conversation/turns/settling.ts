/**
 * Work that waits until it is known how much of an interrupted turn was played: first up to which sample, and then, where
 * the voice reports no times of words, up to which word.
 *
 *   begin ──► the client answers the clear ──► the words are found ──► settled
 *             or `clearedMs` have passed
 *     └─────────────── `settledMs` have passed ───────────────────────────┘
 */
import type { Clock } from '../../ports/system.ts'
import type { AgentTurn } from './agent-turn.ts'

/** The answer to a clear is waited for this long. */
const clearedMs = 300
/** All of it takes no longer. The user still speaks then, as a rule, and no answer but a typed or a short one is delayed. */
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

  /** The playout of this turn was stopped. `settled` is the first to run. */
  begin(turn: Pick<AgentTurn, 'findPlayed'>, settled: () => void): void {
    this.settle()
    this.#waiting = [settled]
    this.#turn = turn
    const { clock, playout } = this.#deps
    this.#cancelSettled = clock.after(settledMs, () => this.settle())
    if (playout.awaitsCleared) this.#cancelCleared = clock.after(clearedMs, () => this.cleared())
    else this.cleared()
  }

  /** The last sample that was played is known. */
  cleared(): void {
    const turn = this.#turn
    if (turn === null) return
    this.#turn = null
    this.#cancelCleared?.()
    const finding = new AbortController()
    const found = turn.findPlayed(finding.signal)
    if (found === null) return this.settle()
    this.#finding = finding
    found.then(() => !finding.signal.aborted && this.settle()).catch((error: unknown) => this.#deps.defect(error))
  }

  /** Waits no longer. */
  settle(): void {
    const waiting = this.#waiting
    this.#waiting = this.#turn = null
    this.#cancelCleared?.()
    this.#cancelSettled?.()
    this.#finding?.abort()
    this.#finding = null
    for (const run of waiting ?? []) run()
  }

  /** Runs now where nothing is under way. */
  afterwards(run: () => void): void {
    if (this.#waiting === null) run()
    else this.#waiting.push(run)
  }
}
