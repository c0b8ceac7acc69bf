/**
 * One open socket. The transport throws if a socket is touched after its end, and ends the process if a callback
 * throws. So `#transport` is null before the socket opens and after its end, and every session call is in a try block.
 *
 * A session is never called from inside its calls: events caused by a send or a close are delivered in a microtask.
 * Otherwise a session would have to expect its end in the middle of every line that sends.
 *
 * Thousands exist, so connections have plain fields, no closures and no timers.
 */

import type { CancelSource } from '../engine/cancel-signal.ts'
import type { Socket, SocketContext, SocketSession } from '../engine/socket.ts'
import type { SocketOwner, SocketTransport } from '../engine/transport.ts'
import { utf8 } from '../engine/utf8.ts'
import type { Place } from '../shares/capacity.ts'
import type { Placed } from '../timing/roster.ts'
import { binaryRefused, type SentFrames, wrongSent } from './frames.ts'
import type { SocketEntry } from './routes.ts'

/** The methods that a connection calls on the list of all connections. */
export interface SocketRegister {
  readonly bufferBytesMax: number
  nowMs(): number
  readerDeadlineMs(): number
  add(connection: Connection): void
  remove(connection: Connection, code: number): void
  /** Calls the connection's `overdue` at intervals from now on. */
  watch(connection: Connection): void
  unwatch(connection: Connection): void
  /** Logs a session's failure. */
  report(connection: Connection, error: unknown): void
}

export type ConnectionContext = SocketContext & { signal: CancelSource }

/**
 * The state of the client as the socket's reader. `behind`: some bytes are buffered. `slow`: too many bytes are
 * buffered, or bytes are buffered for too long, and the session is about to be notified; until then its frames are
 * dropped. `given up`: the session was notified.
 */
type Reader = 'current' | 'behind' | 'slow' | 'given up'

export class Connection implements Socket, SocketOwner, Placed {
  // Fields used for every frame come first, so they share two cache lines.
  #session: SocketSession | null = null
  #isClosing = false
  #transport: SocketTransport | null = null
  #reader: Reader = 'current'
  readonly #entry: SocketEntry
  readonly #register: SocketRegister
  readonly context: ConnectionContext
  /**
   * Limits the buffered bytes once the session was notified that its client reads too slowly: the bytes buffered at
   * that moment, and room for the session's last frames.
   */
  #goodbyeBytesMax = 0
  /** The end of the wait for the reader. After it the session is notified, or the socket is cut. */
  #deadlineMs = 0
  #closeCode = 0
  #closeReason = ''
  place = -1
  readonly #capacity: Place

  /** `capacity` counts the socket against the limit for open sockets until the socket ends. */
  constructor(register: SocketRegister, entry: SocketEntry, context: ConnectionContext, capacity: Place) {
    this.#register = register
    this.#entry = entry
    this.context = context
    this.#capacity = capacity
  }

  get channelId(): string {
    return this.#entry.channel.id
  }

  /** The URL path in the contract's notation: /v1/sessions/{id}/media. */
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

  /** Begins the session. Must not be called from inside the transport's upgrade call: see listeners/uws/listener.ts. */
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

  /** Called if the relaying process reports that its client does not read. */
  readerIsSlow(): void {
    if (this.#reader === 'current') this.#wait()
    if (this.#reader === 'behind' && !this.#isClosing) this.#giveUp()
  }

  /**
   * Notifies the session, or cuts the socket, if the reader's time is up. Called at intervals while the reader is
   * behind.
   */
  overdue(nowMs: number): void {
    if (nowMs < this.#deadlineMs) return
    if (this.#reader === 'behind' && !this.#isClosing) this.#giveUp()
    else this.#transport?.close()
  }

  shutdown(): void {
    this.#notify((session) => session.onShutdown())
  }

  /** Ends the socket at once. The session cannot send further frames. */
  end(code: number, reason: string): void {
    this.#isClosing = true
    this.#transport?.end(code, reason)
  }

  gone(code: number): void {
    this.#capacity.end()
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
   * Returns the transport. Null if nothing may be written: there is no socket, it is closing, or the reader is so far
   * behind that more bytes would only fill the memory.
   */
  #writable(): SocketTransport | null {
    if (this.#isClosing) return null
    if (this.#reader === 'slow') return null
    if (this.#reader === 'given up' && this.bufferedBytes > this.#goodbyeBytesMax) return null
    return this.#transport
  }

  /** Handles a reader that is behind. Always returns false, so a sender can return it. */
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
   * Sends the close frame when no other bytes wait. After a close frame is queued, uWebSockets.js no longer watches the
   * socket: it would keep the bytes before the frame as long as the reader takes a byte from time to time. The close
   * frame therefore waits here until the other bytes are written or their time is up. The transport waits for the
   * peer's answer to the close frame.
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

/** The result of `SocketTransport.send` if everything was written. */
const sent = 1
/** After a session was notified that its client reads too slowly, it may send at most this many further bytes. */
const goodbyeBytesMax = 65_536
/** The time from the notice about a slow reader until its socket is cut. */
const slowGraceMs = 5000
const ended = new Error('the socket has ended')
