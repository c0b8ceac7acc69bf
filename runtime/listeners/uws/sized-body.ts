import type { HttpResponse } from './app.ts'

/**
 * Writes a body with known length in chunks. If the client is slow, uWebSockets.js takes only a part of a chunk, and
 * asks for the rest by its offset in the body. After the last byte the response must not be touched.
 */
export class SizedBody {
  readonly #response: HttpResponse
  readonly #bytes: number
  readonly #completed: () => void
  /** A partly taken chunk, and its offset in the body. */
  #rest: { chunk: Uint8Array; at: number } | null = null
  #written = 0
  #isWatching = false
  #drained: (() => void) | null = null

  /** `completed` is called after the last byte. */
  constructor(response: HttpResponse, bytes: number, completed: () => void) {
    this.#response = response
    this.#bytes = bytes
    this.#completed = completed
  }

  /** Returns false if the writer must wait for `onDrained`. */
  open(writeHead: () => void, chunk: Uint8Array): boolean {
    let isFlowing = true
    this.#response.cork(() => {
      writeHead()
      isFlowing = this.#write(chunk)
    })
    return isFlowing
  }

  write(chunk: Uint8Array): boolean {
    let isFlowing = true
    this.#response.cork(() => {
      isFlowing = this.#write(chunk)
    })
    return isFlowing
  }

  /**
   * Calls `run` when the client has read enough. It may already have read the rest while the writer waited for its
   * source.
   */
  onDrained(run: () => void): void {
    if (this.#rest === null) queueMicrotask(run)
    else this.#drained = run
  }

  #write(chunk: Uint8Array): boolean {
    const at = this.#written
    this.#written += chunk.length
    if (this.#take(chunk)) return true
    this.#rest = { chunk, at }
    this.#watch()
    return false
  }

  /** Writes the chunk. Returns true if the whole chunk is taken. */
  #take(chunk: Uint8Array): boolean {
    const [isAccepted, isComplete] = this.#response.tryEnd(chunk, this.#bytes)
    if (isComplete) this.#completed()
    return isAccepted || isComplete
  }

  /**
   * Waits until more bytes can be written. uWebSockets.js drops this callback with the response or the connection, so
   * the response is never touched later.
   */
  #watch(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#response.onWritable((offset) => this.#goOn(offset))
  }

  #goOn(offset: number): boolean {
    if (this.#rest === null) return true
    const { chunk, at } = this.#rest
    if (!this.#take(chunk.subarray(offset - at))) return false
    this.#rest = null
    const drained = this.#drained
    this.#drained = null
    drained?.()
    return true
  }
}
