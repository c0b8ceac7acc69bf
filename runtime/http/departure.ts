/**
 * Whether the client has gone, or the server waits no longer: as much of AbortSignal as a request needs. A real one costs each request some four
 * microseconds, and nobody but the few parties of one request listens.
 */
export class Departure {
  aborted = false
  reason: Error | undefined
  #listeners: (() => void)[] = []

  addEventListener(_type: 'abort', run: () => void): void {
    if (!this.aborted) this.#listeners.push(run)
  }

  removeEventListener(_type: 'abort', run: () => void): void {
    const at = this.#listeners.indexOf(run)
    if (at >= 0) this.#listeners.splice(at, 1)
  }

  /** Once; later calls do nothing. */
  abort(reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = this.#listeners
    this.#listeners = []
    for (const run of listeners) run()
  }
}
