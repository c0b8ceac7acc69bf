/**
 * The faults of a sequence, and how long what each of them has made wrong may last. A limit is the time after which the
 * product notices the fault by itself. A fault without an entry (an event that is doubled, swapped or of no effect) makes
 * nothing wrong.
 */

export const limitsMs = {
  /** The carrier brings the event after this time. */
  'late hangup': 8_000,
  /**
   * Part of the contract: a leg without an event for 30 s is asked about every 10 s. An event from before the end of the
   * leg may be 8 s late, and begins the 30 s again.
   */
  'lost hangup': 48_000,
  /** One of two who were connected is asked about by the next look, every 10 s, unless an event came within 5 s. */
  'lost hangup of one who was connected': 24_000,
  /** A leg that the carrier did not hang up is hung up again after 2 s. */
  'refused hangup': 2_000,
  /** The answer is awaited for 5 s before. */
  'unanswered hangup': 7_000,
  /** The look for orphaned legs comes again after 5 s. */
  'refused hangup of an orphan': 5_000,
  'unanswered hangup of an orphan': 10_000,
  /** Whether a leg lives is asked again by the next look, every 10 s. */
  'refused question': 10_000,
  'unanswered question': 10_000,
  /** A dial or a bridge that is refused has failed at once. */
  'refused dial': 0,
  'refused command': 0,
  /** A leg that was made all the same has no name until its first event, which may be 8 s late: until then nobody can hang it up. */
  'unanswered dial': 8_000,
  /** One without an answer by then has failed. */
  'unanswered command': 5_000,
  /**
   * Two looks for orphaned legs, every 5 s: a process that could not renew its row is not dead. The carrier repeats an event
   * that could not be stored after 8 s at most.
   */
  'failed statement': 10_000,
  /** The row of the process runs out after 10 s, and two looks every 5 s find its legs. The contract allows 30 s. */
  'dead process': 20_000,
} as const
export type FaultKind = keyof typeof limitsMs

export class Tolerance {
  readonly #clock: { monotonicMs(): number }
  /** By the carrier's names of their legs. */
  readonly #untilMs = new Map<string, number>()
  /** Faults that may concern every leg. */
  #allUntilMs = 0

  constructor(clock: { monotonicMs(): number }) {
    this.#clock = clock
  }

  /** `leg` null: the fault may concern every leg. */
  happened(kind: FaultKind, leg: string | null): void {
    const untilMs = this.#clock.monotonicMs() + limitsMs[kind]
    if (leg === null) this.#allUntilMs = Math.max(this.#allUntilMs, untilMs)
    else this.#untilMs.set(leg, Math.max(this.#untilMs.get(leg) ?? 0, untilMs))
  }

  /** Until then a state of these legs may be wrong. */
  untilMs(legs: readonly string[]): number {
    return Math.max(this.#allUntilMs, ...legs.map((leg) => this.#untilMs.get(leg) ?? 0))
  }
}
