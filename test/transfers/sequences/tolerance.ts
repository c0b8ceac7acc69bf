/**
 * The faults in a sequence, and how long a state may be wrong after each. Each limit is the time until the product
 * notices the fault itself. A fault without an entry (an event that is doubled, swapped or without effect) makes no
 * state wrong.
 */

export const limitsMs = {
  /** The carrier delivers the event after this time. */
  'late hangup': 8_000,
  /**
   * Part of the contract: if a leg has no event for 30 s, the phone line is asked about it every 10 s. An event from
   * before the leg's end may be 8 s late, and restarts the 30 s.
   */
  'lost hangup': 48_000,
  /**
   * Every 10 s the product asks the carrier about each connected leg, except if the leg had an event in the last 5 s. A
   * late event (8 s) can delay this: 8 + 5 + 10 s, and 1 s to spare.
   */
  'lost hangup of one who was connected': 24_000,
  /** If the carrier did not hang up a leg, the command is sent again after 2 s. */
  'refused hangup': 2_000,
  /** The answer is awaited for 5 s, and then the command is sent again after 2 s. */
  'unanswered hangup': 7_000,
  /** The product looks for orphaned legs again after 5 s. */
  'refused hangup of an orphan': 5_000,
  'unanswered hangup of an orphan': 10_000,
  /** Every 10 s the product asks again whether the leg still exists. */
  'refused question': 10_000,
  'unanswered question': 10_000,
  /** A refused dial or bridge has failed at once, so no wrong state remains. */
  'refused dial': 0,
  'refused command': 0,
  /**
   * The leg may exist although the answer is missing. Its id is unknown until its first event, which may be 8 s late.
   * Until then it cannot be hung up.
   */
  'unanswered dial': 8_000,
  /** If the answer does not come within 5 s, the command has failed. */
  'unanswered command': 5_000,
  /**
   * Orphaned legs are looked for every 5 s, and only two checks count, because a process that could not renew its row
   * may still live. If an event could not be stored, the carrier repeats it after 8 s at most.
   */
  'failed statement': 10_000,
  /** The process's row expires after 10 s, and two checks, one every 5 s, find its legs. The contract allows 30 s. */
  'dead process': 20_000,
} as const
export type FaultKind = keyof typeof limitsMs

export class Tolerance {
  readonly #clock: { monotonicMs(): number }
  /** The time until which a state may be wrong, by the carrier's id for the leg. */
  readonly #untilMs = new Map<string, number>()
  /** The same time for faults that concern every leg. */
  #allUntilMs = 0

  constructor(clock: { monotonicMs(): number }) {
    this.#clock = clock
  }

  /** Starts the fault's tolerance. If `leg` is null, the fault may concern every leg. */
  happened(kind: FaultKind, leg: string | null): void {
    const untilMs = this.#clock.monotonicMs() + limitsMs[kind]
    if (leg === null) this.#allUntilMs = Math.max(this.#allUntilMs, untilMs)
    else this.#untilMs.set(leg, Math.max(this.#untilMs.get(leg) ?? 0, untilMs))
  }

  /** Returns the time until which these legs' state may be wrong. */
  untilMs(legs: readonly string[]): number {
    return Math.max(this.#allUntilMs, ...legs.map((leg) => this.#untilMs.get(leg) ?? 0))
  }
}
