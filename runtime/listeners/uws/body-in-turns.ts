import type { HttpResponse } from './app.ts'

type Part = { chunk: Uint8Array; last: boolean }

/**
 * Passes on a request's body in small parts. uWebSockets.js reads a connection repeatedly in one turn of the event
 * loop, as long as each read fills its 512 KiB buffer. A client that sends as fast as its body is processed would block
 * all other clients (190 ms for 100 MiB). So bytes beyond `turnBytesMax` in a turn are only copied, faster than a
 * client can send, and are passed on in the next turns. Reading pauses until then.
 */
export class BodyInTurns {
  readonly #response: HttpResponse
  readonly #take: (chunk: Uint8Array, last: boolean) => void
  /** Null once the body is no longer needed. */
  #waiting: Part[] | null = []
  #turnBytes = 0
  #isPlanned = false

  constructor(response: HttpResponse, take: (chunk: Uint8Array, last: boolean) => void) {
    this.#response = response
    this.#take = take
  }

  /** Passes on a chunk, or copies it for a later turn. `chunk` is valid only during the call. */
  read(chunk: Uint8Array, last: boolean): void {
    if (this.#waiting === null) return this.#take(chunk, last)
    this.#planTurn()
    if (this.#waiting.length === 0 && this.#turnBytes < turnBytesMax) return this.#handOn(chunk, last)
    if (this.#waiting.length === 0) this.#response.pause()
    this.#waiting.push({ chunk: chunk.slice(), last })
  }

  /** Drops the waiting parts. Must be called before the response's last use, or the response would stay paused. */
  release(): void {
    if (this.#waiting !== null && this.#waiting.length > 0) this.#response.resume()
    this.#waiting = null
  }

  /** Drops the waiting parts after the connection has ended. The response must not be touched then. */
  drop(): void {
    this.#waiting = null
  }

  #handOn(chunk: Uint8Array, last: boolean): void {
    this.#turnBytes += chunk.length
    this.#take(chunk, last)
  }

  #planTurn(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => this.#beginTurn())
  }

  #beginTurn(): void {
    this.#isPlanned = false
    this.#turnBytes = 0
    const wasWaiting = this.#waiting !== null && this.#waiting.length > 0
    // Taking a part may answer the request, which drops the waiting parts.
    for (let part = this.#nextPart(); part; part = this.#nextPart()) this.#handOn(part.chunk, part.last)
    if (this.#waiting === null) return
    if (this.#waiting.length > 0) this.#planTurn()
    else if (wasWaiting) this.#response.resume()
  }

  #nextPart(): Part | undefined {
    return this.#turnBytes < turnBytesMax ? this.#waiting?.shift() : undefined
  }
}

const turnBytesMax = 1_048_576
