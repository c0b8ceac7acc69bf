import { Fault } from '../../domain/fault.ts'
import { type RealtimeErrorCode, realtimeErrors } from '../../generated/realtime/errors.ts'
import type { Socket } from '../../runtime/engine/socket.ts'
import { messageOf } from '../faults/table.ts'
import type { Dated, Deadlines } from './deadlines.ts'
import { codeOfFault } from './faults.ts'

/**
 * How a session of any protocol ends: once, from whatever it is doing, and with everything given back before the last frame. A failure is an error
 * frame and then the close code of its row; only the shape of that frame is the protocol's.
 */
export abstract class EndingSocket implements Dated {
  // In this order because a frame touches the first four: see Transcribing.
  due: number | null = null
  #isClosed = false
  protected readonly socket: Socket
  readonly #deadlines: Deadlines
  protected readonly requestId: string
  place = -1

  /** `firstMs` is the first deadline, from now. */
  constructor(deadlines: Deadlines, socket: Socket, requestId: string, firstMs: number) {
    this.#deadlines = deadlines
    this.socket = socket
    this.requestId = requestId
    deadlines.add(this)
    this.due = deadlines.after(firstMs)
  }

  abstract onDue(): void
  protected abstract errorFrame(code: RealtimeErrorCode, message: string): object
  /** Gives up the domain's session, if there is one. */
  protected abstract leave(): void

  onSlowReader(): void {
    this.fail('BACKPRESSURE')
  }

  onShutdown(): void {
    this.fail('SHUTTING_DOWN')
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

  protected fail(code: RealtimeErrorCode, message?: string): void {
    if (this.#isClosed) return
    const row = realtimeErrors[code]
    this.#close()
    this.socket.send(JSON.stringify(this.errorFrame(code, message ?? row.message)))
    this.socket.close(row.closeCode, code)
  }

  /** The last frame has been sent. */
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
