import { type Placed, Roster } from './roster.ts'

/**
 * One timer that checks many members, because a timer for each member would cost more than the guarded work. The first
 * member sets the timer, and the timer fires until a check finds no member. So a member watched only for a moment costs
 * no timer call.
 *
 * If the event loop is busy, the interval between two checks can be longer than `everyMs`. A member must therefore
 * compare clock times, not count checks.
 */
export class Watch<Member extends Placed> {
  readonly #clock: WatchClock
  readonly #everyMs: number
  readonly #look: (member: Member, nowMs: number) => void
  readonly #members = new Roster<Member>()
  #cancel: (() => void) | null = null

  /**
   * `look` is called for each member about every `everyMs`, with the monotonic time. `look` may add and delete members.
   */
  constructor(clock: WatchClock, everyMs: number, look: (member: Member, nowMs: number) => void) {
    this.#clock = clock
    this.#everyMs = everyMs
    this.#look = look
  }

  get size(): number {
    return this.#members.size
  }

  /** Adds a member. A second call does nothing. */
  add(member: Member): void {
    if (member.place >= 0) return
    this.#members.add(member)
    this.#schedule()
  }

  /** Removes a member. A second call does nothing. */
  delete(member: Member): void {
    this.#members.delete(member)
  }

  /** Ends the timer. The members stay, and the next `add` sets the timer again. */
  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #schedule(): void {
    this.#cancel ??= this.#clock.after(this.#everyMs, () => this.#lookAtAll())
  }

  #lookAtAll(): void {
    this.#cancel = null
    const nowMs = this.#clock.monotonicMs()
    try {
      for (const member of this.#members.all()) if (member.place >= 0) this.#look(member, nowMs)
    } finally {
      // If `look` throws, the other members are still watched.
      if (this.#members.size > 0) this.#schedule()
    }
  }
}

export type WatchClock = {
  monotonicMs(): number
  after(delayMs: number, run: () => void): () => void
}
