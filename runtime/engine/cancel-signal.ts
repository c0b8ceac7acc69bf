/**
 * Whether the client has gone, or the server waits no longer: as much of AbortSignal as a request needs. A real one costs each request some four
 * microseconds, and nobody but the few parties of one request listens.
 */
export class CancelSignal {
  aborted = false
  reason: Error | undefined
  #listeners: readonly (() => void)[] = none

  addEventListener(_type: 'abort', run: () => void): void {
    if (!this.aborted) this.#listeners = this.#listeners === none ? [run] : [...this.#listeners, run]
  }

  removeEventListener(_type: 'abort', run: () => void): void {
    if (this.#listeners.includes(run)) this.#listeners = this.#listeners.filter((listener) => listener !== run)
  }

  /** Once; later calls do nothing. */
  abort(reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = this.#listeners
    this.#listeners = none
    for (const run of listeners) run()
  }
}

/** A list that is pushed to makes room for 17, and there is one for each of thousands of sockets. */
const none: readonly (() => void)[] = []
