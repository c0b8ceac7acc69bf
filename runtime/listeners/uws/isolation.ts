/**
 * Prevents a smuggled request behind another request's body from running. uWebSockets.js verifies neither the line
 * break after a chunk nor a Content-Length with bytes above 0x7f at its ends, so it may see a request where a proxy
 * sees a body. But it closes a connection if a request arrives before the previous request is answered, and it parses
 * all bytes from one turn of the event loop together. So:
 *
 *   - the response to an isolated request is not written in the turn in which the request's end was read, except for a
 *     body with known length that took several turns: a client may send its next request with the end of such a body;
 *   - a chunked body is the last on its connection.
 *
 * Closing a connection before a body's end would reset the connection, and the client would lose the response. So the
 * response waits:
 *
 *   - until the body has ended;
 *   - until the body stalls, or has been slow for two seconds. Then the response closes the connection: otherwise
 *     uWebSockets.js would keep the connection for 8 to 12 s, and would close thousands of them in one turn;
 *   - until a body with known length is seen to be fast, because uWebSockets.js goes on to read such a body;
 *   - until too many bytes of a chunked body have come. Then nothing more is read.
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
    if (this.#waiting === null) return
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
      return this.#watch(new UnreadBody(this.#closes, this.#readBytes))
    }
    const run = () => write(this.#closes ? 'closes' : 'goes on')
    if (this.#readTurn === currentTurn()) setImmediate(run)
    else run()
  }

  #release(ending: Ending): void {
    this.#waiting?.(ending)
    this.#waiting = null
  }

  /** Checks the body's arrival until the response is released. */
  #watch(unread: UnreadBody): void {
    this.#clock.after(checkEveryMs, () =>
      // After a busy turn of the event loop, received bytes still wait in the system's buffer. They are read before
      // this function runs.
      setImmediate(() => {
        if (this.#waiting === null) return
        const ending = unread.check(this.#readBytes)
        if (ending === null) this.#watch(unread)
        else this.#release(ending)
      }),
    )
  }
}

/** A body that arrives although its request is refused. */
class UnreadBody {
  readonly #isChunked: boolean
  readonly #firstBytes: number
  #seenBytes: number
  /** The number of checks in a row that found no new bytes. */
  #quietChecks = 0
  /** The number of checks in a row that found too few new bytes. */
  #slowChecks = 0

  constructor(isChunked: boolean, readBytes: number) {
    this.#isChunked = isChunked
    this.#firstBytes = readBytes
    this.#seenBytes = readBytes
  }

  /** Returns null if the response must wait further. */
  check(readBytes: number): Ending | null {
    const newBytes = readBytes - this.#seenBytes
    const isFast = newBytes > fastBytesMin
    this.#seenBytes = readBytes
    this.#quietChecks = newBytes === 0 ? this.#quietChecks + 1 : 0
    this.#slowChecks = isFast ? 0 : this.#slowChecks + 1
    if (this.#quietChecks === quietChecksMax || this.#slowChecks === slowChecksMax) return 'closes'
    if (this.#isChunked) return readBytes - this.#firstBytes > unreadBytesMax ? 'reads no more' : null
    return isFast ? 'goes on' : null
  }
}

const checkEveryMs = 200
/**
 * A body stalls if this many checks in a row find no new bytes. 0.8 s is longer than a gap in a slow network, and
 * shorter than the second for which curl waits for `100 Continue` before it sends a body.
 */
const quietChecksMax = 4
const slowChecksMax = 10
/**
 * A body with known length is fast if more bytes than this come between two checks: 16 KiB/s, below which
 * uWebSockets.js closes the connection.
 */
const fastBytesMin = 3_277
/** The maximum number of bytes read from an unneeded chunked body after the response is ready. */
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
