/**
 * Ends late and idle connections in small groups. node:http would end all in one turn, and thousands would delay every
 * request by up to a second.
 */
import type { Socket } from 'node:net'
import { answerUnreadable, owesAnswer } from './owed.ts'

export class Endings {
  /** The value is true if the connection owed an answer when its time was up. */
  readonly #waiting = new Map<Socket, boolean>()
  #isPlanned = false

  /** Ends the connection soon. If a request comes before, an idle connection stays. */
  add(socket: Socket): void {
    this.#waiting.set(socket, owesAnswer(socket))
    this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => this.#endSome())
  }

  #endSome(): void {
    this.#isPlanned = false
    let count = 0
    for (const [socket, owedAnswer] of this.#waiting) {
      if (++count > connectionsMax) break
      this.#waiting.delete(socket)
      if (owesAnswer(socket) === owedAnswer) end(socket)
    }
    if (this.#waiting.size > 0) this.#plan()
  }
}

/** The most connections that end in one turn. */
const connectionsMax = 100

/** A connection without any byte gets no answer. */
function end(socket: Socket): void {
  if (socket.bytesRead > 0 && !owesAnswer(socket)) answerUnreadable(socket, 'ERR_HTTP_REQUEST_TIMEOUT')
  else socket.destroy()
}
