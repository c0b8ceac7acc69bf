/**
 * Prevents a smuggled request behind another request's body from running. uWebSockets.js verifies neither the line
 * break after a chunk nor a Content-Length with bytes above 0x7f at its ends, so it may see a request where a proxy
 * sees a body. But it closes a connection if a request arrives before the previous request is answered, and it parses
 * all bytes from one turn of the event loop together. So:
 *
 *   - the response to an isolated request is not written in the turn in which the request's end was read;
 *   - a chunked body is the last on its connection. Closing before its end would reset the connection, and the client
 *     would lose the response. So the response waits for the end while the body arrives.
 *
 * The response to any unfinished body waits for a moment. If the body stalls, the response closes the connection:
 * otherwise uWebSockets.js would keep the connection for 8 to 12 s, and would close thousands of them in one turn.
 */
import type { Clock } from '../../engine/options.ts'

/** The connection's state after the response. */
export type Ending = 'goes on' | 'closes' | 'reads no more'

export class Isolation {
  readonly #clock: Clock
  readonly #closes: boolean
  /** True if the request has a body. */
  readonly hasBody: boolean
  #awaitsBody: boolean
  #readTurn = currentTurn()
  #readBytes = 0
  /** Writes the waiting response at the body's end. */
  #waiting: ((ending: Ending) => void) | null = null

  /** `closes`: the request is the last on its connection. */
  constructor(clock: Clock, hasBody: boolean, closes: boolean) {
    this.#clock = clock
    this.#closes = closes
    this.hasBody = hasBody
    this.#awaitsBody = hasBody
  }

  /** Records a chunk from the body. Must be called for each chunk. */
  read(bytes: number, last: boolean): void {
    this.#readBytes += bytes
    if (!last) return
    this.#awaitsBody = false
    const isOneTurn = this.#readTurn === currentTurn()
    this.#readTurn = currentTurn()
    const ending = this.#closes ? 'closes' : 'goes on'
    if (this.#closes || isOneTurn) setImmediate(() => this.#release(ending))
    // The client may have sent its next request with the end of a long body. When this call returns, uWebSockets.js
    // reads that request, and closes the connection if this request is not answered by then.
    else this.#release(ending)
  }

  /** Calls `write` as soon as the response may be written, with the connection's state after it. */
  finish(write: (ending: Ending) => void): void {
    if (this.#awaitsBody) {
      this.#waiting = write
      return this.#watch(this.#readBytes, this.#readBytes)
    }
    const run = () => write(this.#closes ? 'closes' : 'goes on')
    if (this.#readTurn === currentTurn()) setImmediate(run)
    else run()
  }

  #release(ending: Ending): void {
    this.#waiting?.(ending)
    this.#waiting = null
  }

  /** Releases the response if the body stalls, or if enough bytes have come that need not be read. */
  #watch(firstBytes: number, seenBytes: number): void {
    this.#clock.after(stallMs, () => {
      const bytes = this.#readBytes
      if (!this.#waiting) return
      if (bytes === seenBytes) this.#release('closes')
      else if (this.#closes && bytes - firstBytes > unreadBytesMax) this.#release('reads no more')
      else if (!this.#closes && bytes - seenBytes > fastBytesMin) this.#release('goes on')
      else this.#watch(firstBytes, bytes)
    })
  }
}

const stallMs = 200
/**
 * A body with known length is fast if more bytes than this come in `stallMs` (16 KiB/s). Its response need not wait,
 * because uWebSockets.js goes on to read such a body.
 */
const fastBytesMin = 3_277
/** The maximum number of bytes read from an unneeded body without known length after the response is ready. */
const unreadBytesMax = 16 * 1024 * 1024

let turn = 0
let isMarked = false

function currentTurn(): number {
  if (!isMarked) {
    isMarked = true
    setImmediate(begin)
  }
  return turn
}

function begin(): void {
  isMarked = false
  turn++
}
