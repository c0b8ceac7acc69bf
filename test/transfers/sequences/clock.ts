/** The time of one sequence. After each timer, all that follows from it is done before the next one runs. */
import type { Clock } from '../../../domain/ports/system.ts'
import { settled } from '../../domain/fakes.ts'

type Timer = { dueMs: number; run: () => void }

const beganMs = 1_700_000_000_000

export class SequenceClock implements Clock {
  #nowMs = 0
  /** By their times; those of one time in the order in which they were planned. */
  readonly #timers: Timer[] = []
  readonly #afterEach: () => void

  constructor(afterEach: () => void) {
    this.#afterEach = afterEach
  }

  nowMs(): number {
    return beganMs + this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs), run }
    let at = this.#timers.length
    while (at > 0 && (this.#timers[at - 1] as Timer).dueMs > timer.dueMs) at--
    this.#timers.splice(at, 0, timer)
    return () => {
      const place = this.#timers.indexOf(timer)
      if (place >= 0) this.#timers.splice(place, 1)
    }
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve))
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    for (let next = this.#timers[0]; next !== undefined && next.dueMs <= untilMs; next = this.#timers[0]) {
      this.#timers.shift()
      this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      next.run()
      await settled()
      this.#afterEach()
    }
    this.#nowMs = untilMs
    await settled()
    this.#afterEach()
  }
}

/** A process that may die. Nothing that it has planned happens then, and nothing that it has asked is answered. */
export class Life implements Clock {
  readonly #clock: SequenceClock
  isAlive = true

  constructor(clock: SequenceClock) {
    this.#clock = clock
  }

  nowMs(): number {
    return this.#clock.nowMs()
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }

  after(delayMs: number, run: () => void): () => void {
    return this.#clock.after(delayMs, () => {
      if (this.isAlive) run()
    })
  }

  every(periodMs: number, run: () => Promise<unknown>): void {
    this.after(periodMs, () => {
      run().then(
        () => this.every(periodMs, run),
        () => this.every(periodMs, run),
      )
    })
  }
}

export const never = <T>(): Promise<T> => new Promise<T>(() => {})
