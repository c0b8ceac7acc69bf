/**
 * Reports that the client has disconnected, or that the server is forced to stop. Declares only the part of AbortSignal
 * used by requests, so every AbortSignal is also a CancelSignal.
 */
export interface CancelSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: CancelListener): void
  removeEventListener(type: 'abort', listener: CancelListener): void
}

/** A listener may be an object: then a request needs no closure. A closure would cost too much. */
export type CancelListener = (() => void) | { handleEvent(): void }

/**
 * The signal for one request or socket. An AbortController would cost each request about 4 µs more. Adding or removing
 * a listener copies the list. A request has few listeners, so this is cheap.
 */
export class CancelSource implements CancelSignal {
  aborted = false
  reason: Error | undefined
  #listeners: readonly CancelListener[] = none

  addEventListener(_type: 'abort', listener: CancelListener): void {
    if (!this.aborted) this.#listeners = this.#listeners === none ? [listener] : [...this.#listeners, listener]
  }

  removeEventListener(_type: 'abort', listener: CancelListener): void {
    if (this.#listeners.includes(listener)) this.#listeners = this.#listeners.filter((each) => each !== listener)
  }

  /** Sets the reason and calls every listener. Later calls do nothing. */
  abort(reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = this.#listeners
    this.#listeners = none
    for (const listener of listeners) {
      if (typeof listener === 'function') listener()
      else listener.handleEvent()
    }
  }
}

/**
 * The shared list for signals without listeners. If each signal pushed to a new list, V8 would reserve room for 17
 * listeners, and there are thousands of sockets with a signal.
 */
const none: readonly CancelListener[] = []
