/**
 * Ends late and idle connections in small groups. node:http would end all in one event-loop turn, and thousands would
 * delay every request by up to a second.
 */
import type { Socket } from 'node:net'
import { answerUnreadable, owesAnswer } from './owed.ts'

export class Endings {
  readonly #waiting = new Map<Socket, Ending>()
  #isPlanned = false

  /**
   * Ends the connection soon. If a request arrives first, an idle connection stays open. With `answers`, a late,
   * incomplete request gets 408.
   */
  add(socket: Socket, answers: boolean): void {
    this.#waiting.set(socket, { owedAnswer: owesAnswer(socket), answers })
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
    for (const [socket, { owedAnswer, answers }] of this.#waiting) {
      if (++count > connectionsMax) break
      this.#waiting.delete(socket)
      if (owesAnswer(socket) === owedAnswer) end(socket, answers)
    }
    if (this.#waiting.size > 0) this.#plan()
  }
}

/** The maximum number of connections that end in one event-loop turn. */
const connectionsMax = 100

/** `owedAnswer` is true if the connection owed an answer when its time was up. */
type Ending = { owedAnswer: boolean; answers: boolean }

/**
 * A connection without any byte gets no answer. An idle connection between two requests ends silently too, because a
 * proxy would read an answer as the answer to its next request.
 */
function end(socket: Socket, answers: boolean): void {
  if (answers && socket.bytesRead > 0 && !owesAnswer(socket)) answerUnreadable(socket, 'ERR_HTTP_REQUEST_TIMEOUT')
  else socket.destroy()
}
