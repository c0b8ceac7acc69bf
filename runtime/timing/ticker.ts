/**
 * One timer for all calls' audio frames. If a busy process has missed frames, they are played as soon as it is free.
 */
import type { WatchClock } from './watch.ts'

const frameMs = 20

/**
 * The maximum number of missed frames that are still played. After a longer pause, the frames in between are left out.
 */
const missedFramesMax = 50

export class Ticker {
  readonly #clock: WatchClock
  /** Plays one frame for each call. Returns true if any call is left. */
  readonly #frame: () => boolean
  #cancel: (() => void) | null = null
  #dueMs = 0

  constructor(clock: WatchClock, frame: () => boolean) {
    this.#clock = clock
    this.#frame = frame
  }

  /** Starts the ticker. A second call does nothing. It stops by itself when no call is left. */
  start(): void {
    if (this.#cancel) return
    this.#dueMs = this.#clock.monotonicMs() + frameMs
    this.#plan()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  #plan(): void {
    this.#cancel = this.#clock.after(Math.max(0, this.#dueMs - this.#clock.monotonicMs()), () => this.#tick())
  }

  #tick(): void {
    const nowMs = this.#clock.monotonicMs()
    this.#dueMs = Math.max(this.#dueMs, nowMs - missedFramesMax * frameMs)
    let isBusy = true
    // A timer may fire a fraction of a millisecond early.
    for (; isBusy && this.#dueMs <= nowMs + 1; this.#dueMs += frameMs) isBusy = this.#frame()
    if (isBusy) this.#plan()
    else this.#cancel = null
  }
}
