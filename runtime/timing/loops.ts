/**
 * Repeats work in the background under a name: heartbeats, renewals, sweeps. A loop never overlaps itself: its period
 * begins when a run has ended. If a run fails, the failure is logged, and the loop goes on.
 */

export type Loop = {
  /** Names the loop in the log. Unique among the current loops. */
  name: string
  /** The time from a run's end to the next run's beginning. The first run begins after one period. */
  everyMs: number
  run(): Promise<unknown>
}

export class Loops {
  readonly #clock: LoopClock
  readonly #log: LoopLog
  /** For each loop's name, a function that cancels the next run. */
  readonly #planned = new Map<string, () => void>()
  /** For each loop's name, a promise that settles when the run has ended. It never rejects. */
  readonly #running = new Map<string, Promise<void>>()
  #isStopped = false

  constructor(clock: LoopClock, log: LoopLog) {
    this.#clock = clock
    this.#log = log
  }

  /** Starts a loop. Throws if a loop with this name exists already, and after `stop`. */
  start(loop: Loop): void {
    if (this.#isStopped) throw new Error(`the loops have stopped: ${loop.name}`)
    if (this.#planned.has(loop.name) || this.#running.has(loop.name)) throw new Error(`two loops named ${loop.name}`)
    this.#plan(loop)
  }

  /**
   * Begins no more runs, and waits at most `waitMs` for running work. If a run takes longer, this is logged and the run
   * continues.
   */
  async stop(waitMs: number): Promise<void> {
    this.#isStopped = true
    for (const cancel of this.#planned.values()) cancel()
    this.#planned.clear()
    if (this.#running.size === 0) return
    let cancelWait = () => {}
    const timeUp = new Promise<void>((resolve) => {
      cancelWait = this.#clock.after(waitMs, resolve)
    })
    await Promise.race([Promise.all(this.#running.values()), timeUp])
    cancelWait()
    for (const name of this.#running.keys())
      this.#log.warn({ loop: name, waitMs }, 'a background loop did not end in time')
  }

  #plan(loop: Loop): void {
    const begin = () => {
      this.#planned.delete(loop.name)
      const ended = this.#run(loop).then(() => {
        this.#running.delete(loop.name)
        if (!this.#isStopped) this.#plan(loop)
      })
      this.#running.set(loop.name, ended)
    }
    this.#planned.set(loop.name, this.#clock.after(loop.everyMs, begin))
  }

  /** Runs the loop's work once. Never rejects. */
  async #run(loop: Loop): Promise<void> {
    try {
      await loop.run()
    } catch (err) {
      // While the process stops, connections are being closed and failures are expected.
      if (!this.#isStopped) this.#log.warn({ err, loop: loop.name }, 'a background loop failed; it runs again')
    }
  }
}

export type LoopClock = { after(delayMs: number, run: () => void): () => void }
export type LoopLog = { warn(fields: object, message: string): void }
