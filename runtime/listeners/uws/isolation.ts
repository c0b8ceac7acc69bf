/**
 * Keeps a request from running that hides behind the body of another. uWebSockets.js verifies neither the line break
 * behind a chunk nor a Content-Length with bytes above 0x7f at its ends, so a proxy may see a body where it sees another
 * request. But it closes a connection on which a request comes before the last one was answered, and it parses all bytes
 * that it has read in one turn of the event loop. So:
 *
 *   - the answer to an isolated request is not written in the turn that read its end;
 *   - a chunked body is the last on its connection. Closing before its end would reset the connection, and the client
 *     would lose the answer. So the answer waits for the end while the body arrives, and when it stalls, nothing more is
 *     read: the connection then ends by the timeout of uWebSockets.js.
 */
import type { Clock } from '../../engine/options.ts'

/** The fate of the connection after the answer. */
export type Ending = 'goes on' | 'closes' | 'reads no more'

export class Isolation {
  readonly #clock: Clock
  readonly #closes: boolean
  /** The request has a body. */
  readonly hasBody: boolean
  #awaitsBody: boolean
  #readTurn = currentTurn()
  #readBytes = 0
  /** Writes the answer that waits for the end of the body. */
  #waiting: ((ending: Ending) => void) | null = null

  /** `closes`: the request is the last on its connection. */
  constructor(clock: Clock, hasBody: boolean, closes: boolean) {
    this.#clock = clock
    this.#closes = closes
    this.hasBody = hasBody
    this.#awaitsBody = hasBody
  }

  /** A part of the body was read. */
  read(bytes: number, last: boolean): void {
    this.#readBytes += bytes
    if (!last) return
    this.#awaitsBody = false
    this.#readTurn = currentTurn()
    if (this.#waiting) setImmediate(() => this.#release('closes'))
  }

  /** Calls `write` as soon as the answer may be written. */
  finish(write: (ending: Ending) => void): void {
    if (this.#closes && this.#awaitsBody) {
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

  /** Releases the answer when the body stalls, or when too much more of it has come. */
  #watch(firstBytes: number, seenBytes: number): void {
    this.#clock.after(stallMs, () => {
      const bytes = this.#readBytes
      if (bytes === seenBytes || bytes - firstBytes > unreadBytesMax) this.#release('reads no more')
      else if (this.#waiting) this.#watch(firstBytes, bytes)
    })
  }
}

const stallMs = 200
/** So much more of a body that nobody reads is taken from the network. */
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
