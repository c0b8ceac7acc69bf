import type { HttpResponse } from './app.ts'

type Part = { chunk: Uint8Array; last: boolean }

/**
 * Hands on the body of a request in small parts. uWebSockets.js reads a connection again and again in one turn of the
 * event loop, for as long as each read fills its buffer of 512 KiB: a client that sends as fast as its body is taken in
 * would keep all others waiting (190 ms for 100 MiB). So what goes beyond `turnBytesMax` in a turn is only copied, which
 * is faster than a client sends, and is handed on in the next turns. Until then nothing more is read.
 */
export class BodyInTurns {
  readonly #response: HttpResponse
  readonly #take: (chunk: Uint8Array, last: boolean) => void
  /** Null when nobody takes the body any more. */
  #waiting: Part[] | null = []
  #turnBytes = 0
  #isPlanned = false

  constructor(response: HttpResponse, take: (chunk: Uint8Array, last: boolean) => void) {
    this.#response = response
    this.#take = take
  }

  /** `chunk` is valid during the call alone. */
  read(chunk: Uint8Array, last: boolean): void {
    if (this.#waiting === null) return this.#take(chunk, last)
    this.#planTurn()
    if (this.#waiting.length === 0 && this.#turnBytes < turnBytesMax) return this.#handOn(chunk, last)
    if (this.#waiting.length === 0) this.#response.pause()
    this.#waiting.push({ chunk: chunk.slice(), last })
  }

  /** Must be called before the last use of the response, which would stay paused otherwise. */
  release(): void {
    if (this.#waiting !== null && this.#waiting.length > 0) this.#response.resume()
    this.#waiting = null
  }

  /** The connection has ended, and the response must not be touched. */
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
    // Taking a part may answer the request, and end the waiting of the others.
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
