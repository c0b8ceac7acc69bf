import { Fault } from '../../domain/records/fault.ts'
import { type RealtimeErrorCode, realtimeErrors } from '../../generated/realtime/errors.ts'
import type { Socket } from '../../runtime/engine/socket.ts'
import { messageOf } from '../faults/table.ts'
import type { Revocable } from '../revocable.ts'
import type { Dated, Deadlines } from './deadlines.ts'
import { codeOfFault } from './faults.ts'

/**
 * Ends a socket, for any protocol. The socket ends once, from any state, and releases everything before the last frame.
 * A failure sends an error frame and closes with the close code for its error. Each protocol has its own error frame.
 */
export abstract class EndingSocket implements Dated, Revocable {
  due: number | null = null
  #isClosed = false
  protected readonly socket: Socket
  readonly #deadlines: Deadlines
  protected readonly requestId: string
  place = -1

  /** The first deadline is `firstMs` from now. */
  constructor(deadlines: Deadlines, socket: Socket, requestId: string, firstMs: number) {
    this.#deadlines = deadlines
    this.socket = socket
    this.requestId = requestId
    deadlines.add(this)
    this.due = deadlines.after(firstMs)
  }

  abstract onDue(): void
  /** Writes the error frame. Null if the socket closes without an error frame. */
  protected abstract errorFrame(code: RealtimeErrorCode, message: string): object | null
  /** Ends the domain's stream for this socket, if there is one. */
  protected abstract leave(): void

  onSlowReader(): void {
    this.fail('BACKPRESSURE')
  }

  onShutdown(): void {
    this.fail('SHUTTING_DOWN')
  }

  onRevoked(): void {
    this.fail('REVOKED')
  }

  onGone(): void {
    this.#close()
  }

  protected get isClosed(): boolean {
    return this.#isClosed
  }

  protected dueIn(ms: number): void {
    this.due = this.#deadlines.after(ms)
  }

  protected failWith(thrown: unknown): void {
    if (thrown instanceof Fault) this.fail(codeOfFault[thrown.kind], messageOf(thrown.data))
    else this.fail('INTERNAL')
  }

  /** `reason` is the text of the close frame, at most 123 bytes. */
  protected fail(code: RealtimeErrorCode, message?: string, reason: string = code): void {
    if (this.#isClosed) return
    const frame = this.errorFrame(code, message ?? realtimeErrors[code].message)
    this.#close()
    if (frame !== null) this.socket.send(JSON.stringify(frame))
    this.socket.close(this.closeCodeOf(code), reason)
  }

  protected closeCodeOf(code: RealtimeErrorCode): number {
    return realtimeErrors[code].closeCode
  }

  /** Closes the socket without an error, after its last frame was sent. */
  protected finish(): void {
    this.#close()
    this.socket.close(1000, '')
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.due = null
    this.#deadlines.delete(this)
    this.leave()
  }
}
