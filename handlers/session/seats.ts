/**
 * Records each user's socket in a session. A user has one socket at a time: a newer socket replaces the older socket.
 */
import type { SessionSeat } from '../../domain/calls/live/seats.ts'

type Holder = { seat: SessionSeat; number: number; replaced(): void }

export class Seats {
  readonly #holders = new Map<string, Holder>()
  #count = 0

  nextNumber(): number {
    this.#count += 1
    return this.#count
  }

  /** Returns true if a newer socket has joined as the same user. */
  hasNewerHolder({ seat, number }: Holder): boolean {
    return (this.#holders.get(keyOf(seat))?.number ?? 0) > number
  }

  take(holder: Holder): void {
    const key = keyOf(holder.seat)
    this.#holders.get(key)?.replaced()
    this.#holders.set(key, holder)
  }

  leave(holder: Holder): void {
    const key = keyOf(holder.seat)
    if (this.#holders.get(key) === holder) this.#holders.delete(key)
  }
}

const keyOf = ({ sessionId, identity }: SessionSeat) => `${sessionId} ${identity}`
