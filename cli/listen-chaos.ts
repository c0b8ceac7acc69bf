/**
 * Simulates network and receiver faults: events come twice, in another order, late, or again because the receiver's
 * response was lost. With and without faults, a receiver must end in the same state. With the same seed, the same
 * sequence of events gets the same faults.
 */

export const chaosFaults = ['dup', 'reorder', 'late-recording', '500'] as const
export type ChaosFault = (typeof chaosFaults)[number]

/** The event's fields that decide its simulated faults. */
export type ChaosEvent = { type: string; version: number | null }

/**
 * An event to send now. The receiver's first `lostAnswers` responses count as 500, so the event is sent again after
 * each such response.
 */
export type Sending<Event> = { event: Event; note: string; lostAnswers: number }

/** If an event waits to be swapped with the next event, it is sent alone after this time. */
const neighbourMs = 2_000
/** The delay of recordings, and of reports with recordings. */
const lateMs = { min: 3_000, max: 10_000 }
/** The maximum number of events delayed at a time. Further events are sent at once. */
const lateMax = 1_000

export class Chaos<Event extends ChaosEvent> {
  readonly #faults: ReadonlySet<ChaosFault>
  readonly #random: () => number
  #pending: { sending: Sending<Event>[]; dueMs: number } | null = null
  #late: { sending: Sending<Event>[]; dueMs: number }[] = []

  constructor(faults: readonly ChaosFault[], seed: number) {
    this.#faults = new Set(faults)
    this.#random = randomOf(seed)
  }

  /** Returns the events to send now, in order. `due` returns the delayed events later. */
  take(event: Event, nowMs: number): Sending<Event>[] {
    // Each event draws the same number of random values, so if a fault is added, the other faults stay the same.
    const [twice, swapped, answers, late] = [this.#random(), this.#random(), this.#random(), this.#random()]
    const sending = this.#copies(event, twice < 0.5, answers)
    if (this.#faults.has('late-recording') && isLate(event) && this.#late.length < lateMax) {
      this.#late.push({ sending, dueMs: nowMs + Math.round(lateMs.min + late * (lateMs.max - lateMs.min)) })
      return []
    }
    const pending = this.#pending
    this.#pending = null
    if (pending !== null) return [...sending, ...pending.sending]
    if (!this.#faults.has('reorder') || swapped >= 0.5) return sending
    this.#pending = { sending, dueMs: nowMs + neighbourMs }
    return []
  }

  /** Returns the delayed events that are due now. */
  due(nowMs: number): Sending<Event>[] {
    const pending = this.#pending !== null && this.#pending.dueMs <= nowMs ? this.#pending : null
    if (pending !== null) this.#pending = null
    const late = this.#late.filter(({ dueMs }) => dueMs <= nowMs)
    this.#late = this.#late.filter(({ dueMs }) => dueMs > nowMs)
    return [...(pending?.sending ?? []), ...late.flatMap(({ sending }) => sending)]
  }

  #copies(event: Event, isTwice: boolean, answers: number): Sending<Event>[] {
    const lostAnswers = this.#faults.has('500') ? lostOf(answers) : 0
    const first = { event, note: '', lostAnswers }
    return this.#faults.has('dup') && isTwice ? [first, { event, note: 'dup', lostAnswers: 0 }] : [first]
  }
}

/** Returns how many receiver responses an event loses: half the events lose no response, the others one or two. */
const lostOf = (drawn: number) => (drawn < 0.5 ? 0 : drawn < 0.75 ? 1 : 2)

/** True if an event comes with a recording: the recording's event, and each report after the first. */
function isLate({ type, version }: ChaosEvent): boolean {
  return type === 'call.recording' || (type === 'call.report' && (version ?? 1) > 1)
}

/** Makes random numbers from 0 to 1 (mulberry32, public domain). Math.random cannot be seeded. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
