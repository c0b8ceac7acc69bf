/**
 * Time that moves only when a test moves it. The clock goes from timer to timer in order. Before each timer the clock
 * waits until the code under test is quiet, so no test depends on the machine's speed.
 *
 * Tests for one module use `new TestClock()`, which lets promises settle. Tests for a whole product pass `wholeProcess`
 * (test/time/quiet.ts), which also waits for sockets and Postgres.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../domain/ports/system.ts'

export type Quiet = {
  /** Resolves once the code under test is idle, so only one of the clock's timers can wake it. */
  settled(): Promise<void>
  /**
   * If two timers have the same time, this is called between them instead of `settled`. If absent, only promises
   * settle.
   */
  afterTimer?: () => Promise<void>
  /** Returns a number. It grows when something may have changed that a test polls over sockets. */
  changes(): number
}

/** Resolves when all due promise callbacks have run. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

const promisesOnly: Quiet = { settled, changes: () => Number.NaN }

type Timer = { dueMs: number; run: () => void; isCancelled: boolean }
/** A waiting test. Time passes until `isOver` holds. */
type Waiter = { what: string; untilMs: number; isOver: () => boolean; done: () => void; failed: (error: Error) => void }

/** The waits of all clocks that move now. A suite's process reports them if it does not end. */
const movingWaits: Set<() => string[]> = ((globalThis as { movingWaits?: Set<() => string[]> }).movingWaits ??=
  new Set())

/** A wait fails after this much time on the test's clock. */
const usualLimitMs = 120_000
/**
 * An asynchronous condition is polled again after `changedMs` if something may have changed, else after `unchangedMs`.
 */
const changedMs = 200
const unchangedMs = 1000

export class TestClock implements Clock {
  /** The offset between the time of day and the passed time, as if an operator had set the system clock. */
  setMs = 0
  /** Timers fire this much late, as in a process with a busy event loop. */
  lateMs = 0
  readonly #startMs: number
  readonly #quiet: Quiet
  #nowMs = 0
  /** The waiting timers, in firing order. */
  #timers: Timer[] = []
  #waiters = new Set<Waiter>()
  #isMoving = false

  constructor({ startMs = 1_700_000_000_000, quiet = promisesOnly }: { startMs?: number; quiet?: Quiet } = {}) {
    this.#startMs = startMs
    this.#quiet = quiet
  }

  nowMs(): number {
    return this.#startMs + this.#nowMs + this.setMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { dueMs: this.#nowMs + Math.max(0, delayMs) + this.lateMs, run, isCancelled: false }
    this.#timers.splice(this.#placeAfter(timer.dueMs), 0, timer)
    return () => {
      timer.isCancelled = true
      const at = this.#timers.indexOf(timer)
      if (at >= 0) this.#timers.splice(at, 1)
    }
  }

  /** The number of timers that have not fired. */
  get timers(): number {
    return this.#timers.length
  }

  /** Resolves when `ms` have passed on this clock. It does not move the time: another wait must do so. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve))
  }

  /** Lets `ms` pass, and fires the timers on the way. */
  advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    return this.#passes({ what: `${ms} ms`, untilMs, isOver: () => this.#nowMs >= untilMs })
  }

  /** Jumps forward by `ms` as if the event loop had been blocked. Then due timers run, late. */
  pass(ms: number): void {
    this.#nowMs += ms
    const due = this.#timers.splice(0, this.#placeAfter(this.#nowMs))
    for (const timer of due) if (!timer.isCancelled) timer.run()
  }

  /** Jumps forward by `ms` like `pass`. Resolves once all due work is done. */
  async leap(ms: number): Promise<void> {
    this.pass(ms)
    await this.#quiet.settled()
  }

  /** Lets time pass until `holds` does. Rejects after `limitMs` on this clock. */
  async until(what: string, holds: () => boolean | Promise<boolean>, limitMs = usualLimitMs): Promise<void> {
    const untilMs = this.#nowMs + limitMs
    for (;;) {
      const answer = holds()
      if (answer === true) return
      if (answer === false) return this.#passes({ what, untilMs, isOver: () => holds() === true })
      if (await answer) return
      await this.#passes({ what, untilMs, isOver: this.#whenChanged() })
    }
  }

  /** Lets time pass until the work is over, at most `limitMs` on this clock. */
  async during<T>(work: Promise<T>, limitMs = Number.POSITIVE_INFINITY): Promise<T> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    work.then(over, over)
    const what = `work ${new Error().stack?.split('\n')[2]?.trim() ?? ''}`
    await this.#passes({ what, untilMs: this.#nowMs + limitMs, isOver: () => isOver })
    return work
  }

  #whenChanged(): () => boolean {
    const changes = this.#quiet.changes()
    const askedMs = this.#nowMs
    return () => {
      const sinceMs = this.#nowMs - askedMs
      return sinceMs >= unchangedMs || (sinceMs >= changedMs && this.#quiet.changes() !== changes)
    }
  }

  #passes(waiting: Pick<Waiter, 'what' | 'untilMs' | 'isOver'>): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiters.add({ ...waiting, done, failed })
      if (!this.#isMoving) void this.#move()
    })
  }

  /** Moves time for all waits in one loop, and only while all of them wait. */
  async #move(): Promise<void> {
    this.#isMoving = true
    const waits = () => [...this.#waiters].map(({ what }) => what)
    movingWaits.add(waits)
    try {
      for (;;) {
        await this.#quiet.settled()
        if (this.#release()) continue
        if (this.#waiters.size === 0) return
        await this.#step(Math.min(...[...this.#waiters].map(({ untilMs }) => untilMs)))
      }
    } catch (error) {
      for (const { failed } of this.#waiters) failed(error as Error)
      this.#waiters.clear()
    } finally {
      movingWaits.delete(waits)
      this.#isMoving = false
    }
  }

  /**
   * Ends each wait that is over or too late. Returns true if one was ended, because its test may act before time goes
   * on.
   */
  #release(): boolean {
    let hasReleased = false
    for (const waiter of this.#waiters) {
      const isOver = waiter.isOver()
      if (!isOver && this.#nowMs < waiter.untilMs) continue
      this.#waiters.delete(waiter)
      hasReleased = true
      if (isOver) waiter.done()
      else waiter.failed(new Error(`not in time: ${waiter.what}, at ${this.#nowMs} ms of the clock`))
    }
    return hasReleased
  }

  /** Moves to the next timer, but not beyond `untilMs`, and runs all due timers. */
  async #step(untilMs: number): Promise<void> {
    const next = this.#timers[0]
    // Without a timer the test waits for work outside this clock, such as a process's end.
    if (next === undefined && untilMs === Number.POSITIVE_INFINITY) return void (await sleep(1))
    this.#nowMs = Math.max(this.#nowMs, Math.min(next?.dueMs ?? untilMs, untilMs))
    for (let due = this.#timers[0]; due !== undefined && due.dueMs <= this.#nowMs; due = this.#timers[0]) {
      this.#timers.shift()
      due.run()
      if ((this.#timers[0]?.dueMs ?? Number.POSITIVE_INFINITY) <= this.#nowMs)
        await (this.#quiet.afterTimer ?? settled)()
    }
  }

  #placeAfter(dueMs: number): number {
    let low = 0
    let high = this.#timers.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#timers[middle] as Timer).dueMs <= dueMs) low = middle + 1
      else high = middle
    }
    return low
  }
}
