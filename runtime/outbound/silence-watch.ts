import { type Placed, Roster } from '../roster.ts'

/**
 * One timer for everything that a pool waits for. undici would make two a request, and keeps those that are over in its list for half a second:
 * with thousands of requests a second that list is most of what each young collection has to move.
 */
export class SilenceWatch {
  readonly #waiting = new Roster<Watched>()
  readonly #monotonicMs: () => number
  #timer: NodeJS.Timeout | null = null

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  get count(): number {
    return this.#waiting.size
  }

  add(waiting: Watched): void {
    this.#waiting.add(waiting)
    this.#timer ??= setTimeout(() => this.#look(), lookEveryMs).unref()
  }

  /** A second call does nothing. */
  delete(waiting: Watched): void {
    this.#waiting.delete(waiting)
  }

  #look(): void {
    this.#timer = null
    const nowMs = this.#monotonicMs()
    for (const waiting of this.#waiting.all()) if (waiting.silentAtMs <= nowMs) waiting.fallSilent()
    if (this.#waiting.size > 0) this.#timer = setTimeout(() => this.#look(), lookEveryMs).unref()
  }
}

export interface Watched extends Placed {
  /** When it has waited too long, on the monotonic clock; noticed up to `lookEveryMs` later. Infinity while nothing is waited for. */
  readonly silentAtMs: number
  fallSilent(): void
}

const lookEveryMs = 250
