import { Fault } from '../../domain/fault.ts'
import { move, type SessionEvent, type SessionState } from '../../domain/realtime/protocol.ts'
import { type RealtimeErrorCode, realtimeErrors } from '../../generated/realtime/errors.ts'
import type { FrameProblem, Socket, SocketSession } from '../../runtime/ws/socket.ts'
import { codeOfFault } from './codes.ts'
import type { Dated, Deadlines } from './deadlines.ts'

export type SocketTimes = {
  /** To the config frame. */
  configMs: number
  /** Without audio or text. */
  silenceMs: number
}

export type StreamSocketDeps = { deadlines: Deadlines; times: SocketTimes }

/**
 * What both kinds of session share: the state, which only the table of domain/realtime moves; the deadline of that state; and the one way in
 * which a session fails, an error frame and then the close code of its row.
 */
export abstract class StreamSocket implements SocketSession, Dated {
  dueMs: number
  state: SessionState = 'awaiting_config'
  protected readonly socket: Socket
  protected readonly requestId: string
  protected readonly deps: StreamSocketDeps

  constructor(deps: StreamSocketDeps, socket: Socket, requestId: string) {
    this.deps = deps
    this.socket = socket
    this.requestId = requestId
    this.dueMs = deps.deadlines.nowMs() + deps.times.configMs
    deps.deadlines.add(this)
  }

  /** What the client was last heard with too long ago. */
  protected abstract readonly silence: 'audio_late' | 'text_late'
  /** Gives up the domain's session, if there is one. */
  protected abstract leave(): void

  abstract onBytes(bytes: Uint8Array): void
  abstract onDrained(): void

  onPing(): void {
    this.socket.send('{"type":"pong"}')
  }

  onDue(): void {
    this.take(this.state === 'awaiting_config' ? 'config_late' : this.silence)
  }

  onRefused({ message }: FrameProblem): void {
    this.take('invalid', message)
  }

  onSlowReader(): void {
    this.take('slow_reader')
  }

  onShutdown(): void {
    this.take('shutdown')
  }

  onGone(): void {
    if (this.state === 'closed') return
    this.close()
  }

  /** False when the state does not take the event: the session has then failed as the table says. `message` is what the client should read. */
  protected take(event: SessionEvent, message?: string): boolean {
    const moved = move(this.state, event)
    if ('error' in moved) {
      if (moved.error !== null) this.fail(moved.error, message)
      return false
    }
    this.state = moved.state
    return true
  }

  /** The client did something that shows it is there. */
  protected heard(): void {
    this.dueMs = this.deps.deadlines.nowMs() + this.deps.times.silenceMs
  }

  protected failWith(fault: unknown): void {
    if (fault instanceof Fault) this.fail(codeOfFault(fault), fault.detail.message)
    else this.fail('INTERNAL')
  }

  protected fail(code: RealtimeErrorCode, message?: string): void {
    if (this.state === 'closed') return
    const row = realtimeErrors[code]
    this.close()
    const { requestId } = this
    const frame = { type: 'error', code, message: message ?? row.message, retryable: row.retryable, requestId }
    this.socket.send(JSON.stringify(frame))
    this.socket.close(row.closeCode, code)
  }

  /** The last frame has been sent. */
  protected finish(): void {
    this.close()
    this.socket.close(1000, '')
  }

  private close(): void {
    this.state = 'closed'
    this.dueMs = Number.POSITIVE_INFINITY
    this.deps.deadlines.delete(this)
    this.leave()
  }
}
