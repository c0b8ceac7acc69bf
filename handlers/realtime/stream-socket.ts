import { type RealtimeErrorCode, realtimeErrors } from '../../generated/realtime/errors.ts'
import type { FrameProblem, Socket, SocketSession } from '../../runtime/engine/socket.ts'
import { docUrl } from '../../runtime/http/doc-url.ts'
import type { Deadlines } from './deadlines.ts'
import { EndingSocket } from './ending-socket.ts'
import { move, type SocketEvent, type SocketState } from './protocol.ts'

export type SocketTimes = {
  /** The longest wait for the config frame. */
  configMs: number
  /** The longest time without audio or text. */
  silenceMs: number
}

export type StreamSocketDeps = { deadlines: Deadlines; times: SocketTimes }

/**
 * The common part of both stream kinds while their socket is open: the state and its deadline. Only the table in
 * protocol.ts changes the state.
 */
export abstract class StreamSocket extends EndingSocket implements SocketSession {
  readonly #times: SocketTimes
  #state: SocketState = 'awaiting_config'

  constructor({ deadlines, times }: StreamSocketDeps, socket: Socket, requestId: string) {
    super(deadlines, socket, requestId, times.configMs)
    this.#times = times
  }

  /** The event to raise if a client has sent nothing for too long. */
  protected abstract readonly silence: 'audio_late' | 'text_late'

  abstract onBytes(bytes: Uint8Array): void
  abstract onDrained(): void

  onPing(): void {
    this.socket.send('{"type":"pong"}')
  }

  onDue(): void {
    this.take(this.#state === 'awaiting_config' ? 'config_late' : this.silence)
  }

  onRefused({ message }: FrameProblem): void {
    this.take('invalid', message)
  }

  /**
   * Moves to the event's next state. Returns false if the state does not allow the event. If the table names an error,
   * the socket has then failed, with `message` in its error frame.
   */
  protected take(event: SocketEvent, message?: string): boolean {
    if (this.isClosed) return false
    const moved = move(this.#state, event)
    if ('error' in moved) {
      if (moved.error !== null) this.fail(moved.error, message ?? this.#causeOf(event))
      return false
    }
    this.#state = moved.state
    return true
  }

  /** Restarts the timer for the time without audio or text. Call this when the client has sent something. */
  protected restartSilence(): void {
    this.dueIn(this.#times.silenceMs)
  }

  protected errorFrame(code: RealtimeErrorCode, message: string): object {
    const { retryable } = realtimeErrors[code]
    return { type: 'error', code, message, retryable, requestId: this.requestId, doc_url: docUrl('realtime', code) }
  }

  /**
   * Returns the message if the `config` frame is late, is repeated, or comes after another frame. The code
   * INVALID_CONFIG covers all these problems. Undefined if the code's usual message is enough.
   */
  #causeOf(event: SocketEvent): string | undefined {
    if (event === 'config_late') return `No config came within ${this.#times.configMs / 1000} s.`
    if (event === 'config') return 'The session has its config: a second one is not taken.'
    if (this.#state !== 'awaiting_config') return undefined
    return event === 'audio'
      ? 'Audio came before the config: the first frame is text, of type config.'
      : `A frame of type ${event} came before the config.`
  }
}
