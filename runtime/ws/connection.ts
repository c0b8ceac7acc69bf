/**
 * One open socket. The transport throws when a socket is touched after its end, and ends the process when a callback
 * throws. `#transport`, which is null before and after, guards against the first. A try around every call of the
 * session guards against the second.
 *
 * A session is never called from inside one of its calls: the events that a send or a close causes are delivered in a
 * microtask. Otherwise a session would have to expect its end in the middle of every line that sends.
 *
 * There are thousands of these, so they have plain fields, no closures and no timers.
 */

import type { CancelSource } from '../engine/cancel-signal.ts'
import type { Socket, SocketContext, SocketSession } from '../engine/socket.ts'
import type { SocketOwner, SocketTransport } from '../engine/transport.ts'
import { utf8 } from '../engine/utf8.ts'
import type { Placed } from '../timing/roster.ts'
import { binaryRefused, type SentFrames, wrongSent } from './frames.ts'
import type { SocketEntry } from './routes.ts'

/** The part of the list of all connections that one connection uses. */
export interface SocketRegister {
  readonly bufferBytesMax: number
  nowMs(): number
  readerDeadlineMs(): number
  add(connection: Connection): void
  remove(connection: Connection, code: number): void
  /** From now on `overdue` is called now and then. */
  watch(connection: Connection): void
  unwatch(connection: Connection): void
  /** Logs the failure of a session. */
  report(connection: Connection, error: unknown): void
}

export type ConnectionContext = SocketContext & { signal: CancelSource }

/**
 * `behind`: something is buffered. `slow`: too much is buffered, or for too long, and the session is about to be
 * notified; nothing more is taken from it until then. `given up`: the session was notified.
 */
type Reader = 'current' | 'behind' | 'slow' | 'given up'

export class Connection implements Socket, SocketOwner, Placed {
  // The fields that every frame touches come first, so that they share two cache lines.
  #session: SocketSession | null = null
  #isClosing = false
  #transport: SocketTransport | null = null
  #reader: Reader = 'current'
  readonly #entry: SocketEntry
  readonly #register: SocketRegister
  readonly context: ConnectionContext
  /** The most that may be buffered after the reader was given up: the amount at that moment, and a goodbye. */
  #goodbyeBytesMax = 0
  /** The end of the wait for the reader. After it the next, harsher step follows. */
  #deadlineMs = 0
  #closeCode = 0
  #closeReason = ''
  place = -1

  constructor(register: SocketRegister, entry: SocketEntry, context: ConnectionContext) {
    this.#register = register
    this.#entry = entry
    this.context = context
  }

  get channelId(): string {
    return this.#entry.channel.id
  }

  /** As the contract writes it: /v1/sessions/{id}/media. */
  get address(): string {
    return this.#entry.channel.address
  }

  get bufferedBytes(): number {
    return this.#transport?.getBufferedAmount() ?? 0
  }

  send(text: string): boolean {
    const transport = this.#writable()
    if (!transport) return false
    const { sends } = this.#entry.channel
    if (sends && this.#isWrong(text, sends)) return false
    return transport.send(utf8(text), false) === sent || this.#press()
  }

  sendBytes(bytes: Uint8Array): boolean {
    const transport = this.#writable()
    if (!transport) return false
    return transport.send(bytes, true) === sent || this.#press()
  }

  close(code: number, reason: string): void {
    if (!this.#transport || this.#isClosing) return
    this.#isClosing = true
    this.#closeCode = code
    this.#closeReason = reason
    queueMicrotask(() => this.#finish())
  }

  /** Begins the session. Must not be called from inside the transport's upgrade call: see engine/uws/listener.ts. */
  opened(transport: SocketTransport): void {
    if (this.#isClosing) return
    this.#transport = transport
    this.#register.add(this)
    try {
      this.#session = this.#entry.handler(this, this.context)
    } catch (error) {
      this.#fail(error)
    }
  }

  receive(message: Uint8Array, isBinary: boolean): void {
    const session = this.#session
    if (session === null || this.#isClosing) return
    const { channel } = this.#entry
    try {
      if (!isBinary) this.#entry.takeText(channel, session, readText(message))
      else if (channel.acceptsBinary) session.onBytes(message)
      else session.onRefused(binaryRefused)
    } catch (error) {
      this.#fail(error)
    }
  }

  drained(): void {
    if (!this.#transport || this.#reader === 'current') return
    if (this.#transport.getBufferedAmount() > 0) {
      if (!this.#isClosing && this.#reader === 'behind') this.#deadlineMs = this.#register.readerDeadlineMs()
      return
    }
    if (this.#isClosing) return this.#finish()
    if (this.#reader !== 'behind') return
    this.#reader = 'current'
    this.#register.unwatch(this)
    this.#notify((session) => session.onDrained())
  }

  /** The process that has the client of this socket has found that it does not read. */
  readerIsSlow(): void {
    if (this.#reader === 'current') this.#wait()
    if (this.#reader === 'behind' && !this.#isClosing) this.#giveUp()
  }

  /** Called now and then while the reader is behind. */
  overdue(nowMs: number): void {
    if (nowMs < this.#deadlineMs) return
    if (this.#reader === 'behind' && !this.#isClosing) this.#giveUp()
    else this.#transport?.close()
  }

  shutdown(): void {
    this.#notify((session) => session.onShutdown())
  }

  /** Ends the socket at once. The session sends nothing more. */
  end(code: number, reason: string): void {
    this.#isClosing = true
    this.#transport?.end(code, reason)
  }

  gone(code: number): void {
    const wasOpened = this.#transport !== null
    this.#transport = null
    this.#isClosing = true
    this.context.signal.abort(ended)
    try {
      this.#session?.onGone()
    } catch (error) {
      this.#register.report(this, error)
    }
    this.#session = null
    if (wasOpened) this.#register.remove(this, code)
  }

  /**
   * Null when nothing may be written: there is no socket, it is closing, or the reader is so far behind that only
   * memory would grow.
   */
  #writable(): SocketTransport | null {
    if (this.#isClosing) return null
    if (this.#reader === 'slow') return null
    if (this.#reader === 'given up' && this.bufferedBytes > this.#goodbyeBytesMax) return null
    return this.#transport
  }

  /** More is buffered than the reader takes. Always false, so that a sender can return it. */
  #press(): false {
    if (this.#reader === 'current') this.#wait()
    if (this.#reader === 'behind' && this.bufferedBytes > this.#register.bufferBytesMax) this.#giveUp()
    return false
  }

  #giveUp(): void {
    this.#reader = 'slow'
    this.#deadlineMs = this.#register.nowMs() + slowGraceMs
    queueMicrotask(() => {
      this.#reader = 'given up'
      this.#goodbyeBytesMax = this.bufferedBytes + goodbyeBytesMax
      this.#notify((session) => session.onSlowReader())
    })
  }

  #wait(): void {
    this.#reader = 'behind'
    this.#deadlineMs = this.#register.readerDeadlineMs()
    this.#register.watch(this)
  }

  /**
   * Once a close frame is queued, uWebSockets.js forgets the socket: it would keep the bytes before the frame for as
   * long as the reader takes a byte now and then. The close frame therefore waits here until the rest is written or its
   * time is up. The transport waits for the peer's answer to it.
   */
  #finish(): void {
    const transport = this.#transport
    if (!transport) return
    if (transport.getBufferedAmount() === 0) return transport.end(this.#closeCode, this.#closeReason)
    if (this.#reader === 'current' || this.#reader === 'behind') this.#wait()
  }

  #notify(call: (session: SocketSession) => void): void {
    if (this.#session === null || this.#isClosing) return
    try {
      call(this.#session)
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#register.report(this, error)
    this.close(1011, 'internal error')
  }

  #isWrong(text: string, sends: SentFrames): boolean {
    const problem = wrongSent(this.#entry.channel, text, sends)
    if (problem !== null) this.#fail(new Error(problem))
    return problem !== null
  }
}

function readText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('utf8')
}

/** The result of `SocketTransport.send` when everything was written. */
const sent = 1
/** The most that a session may still send to a reader that is over its bound. */
const goodbyeBytesMax = 65_536
/** From the session's notice about a slow reader to the cut. */
const slowGraceMs = 5000
const ended = new Error('the socket has ended')
