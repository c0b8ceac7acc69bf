import type { Clock } from '../../domain/ports/system.ts'
import { RecentMap } from './recent-map.ts'

const windowMs = 60_000
const countersMax = 4096

/**
 * Counts the wrong logins for a user name from one IP address. The counter is separate for each address, because
 * otherwise any client could lock a user out.
 */
export class WrongLogins {
  readonly #clock: Clock
  readonly #perMinuteMax: number
  readonly #counters = new RecentMap<{ sinceMs: number; count: number }>(countersMax)

  constructor(clock: Clock, perMinuteMax: number) {
    this.#clock = clock
    this.#perMinuteMax = perMinuteMax
  }

  areTooMany(username: string, address: string): boolean {
    return (this.#counterOf(`${address} ${username}`)?.count ?? 0) >= this.#perMinuteMax
  }

  note(username: string, address: string): void {
    const key = `${address} ${username}`
    const counter = this.#counterOf(key)
    if (counter === null) this.#counters.set(key, { sinceMs: this.#clock.monotonicMs(), count: 1 })
    else counter.count++
  }

  /** Returns the counter. Returns null if the counter's minute is over. */
  #counterOf(key: string) {
    const counter = this.#counters.get(key)
    return counter === undefined || this.#clock.monotonicMs() - counter.sinceMs >= windowMs ? null : counter
  }
}
