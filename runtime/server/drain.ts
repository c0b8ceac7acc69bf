/**
 * Ends a server so that a restart behind a load balancer fails no request and cuts no call:
 *
 *   ready ──drain──► draining ───────────────────────────────► ending ──────────────► stopped
 *                    │ lbDelayMs: /readyz alone says 503       │ what is left gets its
 *                    │ then the listeners close                │ fault or its last frames
 *                    └ graceMs, or longer for an extension:    └ farewellMs
 *                      what is open ends by itself
 *
 * While the server drains it serves everything, new sockets too, because a load balancer needs time to notice. In the
 * first half of lbDelayMs each response asks the client to close its kept-alive connection, so the next request goes to
 * another server if the balancer has noticed. In the second half responses do not ask this: a proxy without /readyz
 * checks then keeps its connections and opens few new ones, so closing the port resets few. Afterwards each response
 * asks it again. Stopping ends the wait at any step.
 */

import type { Listener } from '../engine/transport.ts'
import type { Engine } from '../http/engine.ts'

export class Drain {
  readonly #engine: Engine
  readonly #listeners: readonly Listener[]
  #draining: Promise<void> | null = null
  #stopping: Promise<void> | null = null
  /** True once the sockets' sessions were notified of the shutdown. */
  #areNotified = false
  /** Ends the current wait. */
  #interrupt: () => void = () => {}

  constructor(engine: Engine, listeners: readonly Listener[]) {
    this.#engine = engine
    this.#listeners = listeners
  }

  /** Drains and stops the server. A second call returns the first call's promise. */
  drain(lbDelayMs: number): Promise<void> {
    return (this.#draining ??= this.#drain(lbDelayMs).then(() => this.stop()))
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    this.#interrupt()
    return this.#stopping
  }

  async #drain(lbDelayMs: number): Promise<void> {
    const engine = this.#engine
    const { graceMs } = engine.options.drain
    engine.state = 'draining'
    for (const isFirst of lbDelayMs > 0 ? [true, false] : []) {
      engine.asksToClose = isFirst
      await this.#pauseUnlessStopped(lbDelayMs / 2)
      if (this.#stopping) return
    }
    engine.asksToClose = true
    await this.#shortTurn()
    if (this.#stopping) return
    for (const listener of this.#listeners) listener.refuse()
    await this.#pauseUnlessStopped(Math.min(lateMs, graceMs))
    if (this.#stopping || (await this.#unlessStopped(engine.idle(graceMs)))) return
    if (await this.#extended()) return
    if (!this.#stopping) await this.#dismiss()
  }

  /**
   * Waits for a nearly idle turn of the event loop. When the port closes, the system resets accepted connections not
   * yet taken by this process. Each turn begins by accepting them.
   */
  async #shortTurn(): Promise<void> {
    const { clock } = this.#engine.options
    for (let turn = 0; turn < turnsMax; turn++) {
      const startedMs = clock.monotonicMs()
      await new Promise((resolve) => void setImmediate(resolve))
      if (clock.monotonicMs() - startedMs < shortTurnMs) return
    }
  }

  /** Waits while the extension is needed. Returns true if everything has ended by itself, or the server stops. */
  async #extended(): Promise<boolean> {
    const { drain, clock } = this.#engine.options
    if (drain.extension === undefined) return false
    const { extension } = drain
    const untilMs = clock.monotonicMs() + extension.ms - drain.graceMs
    while (!this.#stopping && extension.isNeeded() && clock.monotonicMs() < untilMs) {
      const waitMs = Math.min(lookMs, untilMs - clock.monotonicMs())
      if (await this.#unlessStopped(this.#engine.idle(waitMs))) return true
    }
    return this.#stopping !== null
  }

  /**
   * Aborts every request and lets every session send its last frames. Handlers that listen to their signal can still
   * respond.
   */
  async #dismiss(): Promise<void> {
    const engine = this.#engine
    engine.state = 'ending'
    engine.abortAll(stopped)
    this.#shutdownSockets()
    await this.#unlessStopped(engine.idle(farewellMs))
  }

  async #stop(): Promise<void> {
    const engine = this.#engine
    engine.state = 'stopped'
    engine.asksToClose = true
    engine.abortAll(stopped)
    await this.#endSockets()
    await Promise.all(this.#listeners.map((listener) => listener.close()))
    engine.stalls.stop()
    await engine.idle(farewellMs)
  }

  /**
   * Waits a moment after the close frames: if a connection is closed with unread bytes, it is reset, and the reset
   * discards the close frame.
   */
  async #endSockets(): Promise<void> {
    const { sockets } = this.#engine
    if (sockets.count === 0) return
    this.#shutdownSockets()
    // A session's close runs in a microtask.
    await Promise.resolve()
    sockets.endAll(1012, 'service restart')
    await this.#pause(lingerMs)
  }

  #shutdownSockets(): void {
    if (this.#areNotified) return
    this.#areNotified = true
    this.#engine.sockets.shutdown()
  }

  /** Settles like `wait`, or with null as soon as the server stops. */
  #unlessStopped<T>(wait: Promise<T>): Promise<T | null> {
    return new Promise((resolve, reject) => {
      this.#interrupt = () => resolve(null)
      wait.then(resolve, reject)
    })
  }

  #pauseUnlessStopped(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#engine.options.clock.after(ms, resolve)
      this.#interrupt = () => {
        cancel()
        resolve()
      }
    })
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#engine.options.clock.after(ms, resolve))
  }
}

const stopped = new Error('the server stops')

/** A request sent before the listeners closed arrives within this time and is answered. */
const lateMs = 200

const lingerMs = 200

/** The interval between two checks of `isNeeded`. */
const lookMs = 500

const shortTurnMs = 0.05
/** The maximum number of turns to wait for, because a permanently busy process must close its port too. */
const turnsMax = 1000

/**
 * The longest wait for aborted requests. Handlers that listen to their signal end long before. Other handlers are left
 * running.
 */
const farewellMs = 500
