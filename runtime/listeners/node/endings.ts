/**
 * Ends late and idle connections in small groups. node:http would end all in one event-loop turn, and thousands would
 * delay every request by up to a second.
 */
import type { Socket } from 'node:net'
import { TurnQueue } from '../../timing/turn-queue.ts'
import { answerUnreadable, owesAnswer } from './owed.ts'

export class Endings {
  readonly #queue = new TurnQueue(connectionsMax, endUnlessBusy)

  /**
   * Ends the connection soon. If a request arrives first, an idle connection stays open. With `answers`, a late,
   * incomplete request gets 408.
   */
  add(socket: Socket, answers: boolean): void {
    this.#queue.add({ socket, owedAnswer: owesAnswer(socket), answers })
  }
}

/** The maximum number of connections that end in one event-loop turn. */
const connectionsMax = 100

/** `owedAnswer` is true if the connection owed a response when its time was up. */
type Ending = { socket: Socket; owedAnswer: boolean; answers: boolean }

/**
 * A connection without any byte gets no response. An idle connection between two requests ends silently too, because a
 * proxy would take a response for the response to its next request.
 */
function endUnlessBusy({ socket, owedAnswer, answers }: Ending): void {
  if (owesAnswer(socket) !== owedAnswer) return
  if (answers && socket.bytesRead > 0 && !owesAnswer(socket)) answerUnreadable(socket, 'ERR_HTTP_REQUEST_TIMEOUT')
  else socket.destroy()
}
