import type { SessionMediaSends } from '../../generated/session/channels.ts'
import type { PlayedFrame } from '../../generated/session/types.ts'
import type { Socket } from '../../runtime/engine/socket.ts'
import type { AgentAudio, PlayedEvents } from './agent-audio.ts'
import { SentMarks } from './sent-marks.ts'

/** Sends the agent's audio as socket frames. The client answers `mark` and `clear` frames. */
export class SocketAudio implements AgentAudio {
  readonly #socket: Socket
  readonly #events: PlayedEvents
  readonly #marks = new SentMarks()

  constructor(socket: Socket, events: PlayedEvents) {
    this.#socket = socket
    this.#events = events
  }

  frame(samples: Int16Array): void {
    this.#socket.sendBytes(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength))
  }

  mark(name: string): void {
    this.#marks.mark(name)
    this.#send({ type: 'mark', name })
  }

  clear(): void {
    this.#marks.clear()
    this.#send({ type: 'clear' })
  }

  answered({ mark, playedMs = 0, cleared = false }: PlayedFrame): boolean {
    if (!cleared) {
      if (mark === null || !this.#marks.passed(mark)) return false
      this.#events.played(mark)
      return true
    }
    const last = this.#marks.cleared(mark)
    if (last === undefined) return false
    this.#events.cleared(last, playedMs)
    return true
  }

  #send(frame: SessionMediaSends): void {
    this.#socket.send(JSON.stringify(frame))
  }
}
