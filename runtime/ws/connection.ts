/**
 * One open socket. uWebSockets.js throws when a socket is touched after its end, and ends the process when a callback throws: `#ws`, null before
 * and after, guards against the first, a try around every call of the session against the second.
 *
 * A session is never called from inside a call of its own: what a send or a close sets off is told in a microtask. Otherwise a session would
 * have to be ready for its end in the middle of every line that sends.
 *
 * There are thousands of these: plain fields, no closure and no timer of their own.
 */

import type { CancelSignal } from '../engine/cancel-signal.ts'
import type { Socket, SocketContext, SocketSession } from '../engine/socket.ts'
import type { WebSocket } from '../engine/uws/binary.ts'
import type { Placed } from '../roster.ts'
import { binaryRefused, takeText, wrongSent } from './frames.ts'
import type { SocketRoute } from './routes.ts'
import type { Sockets } from './sockets.ts'

/** What uWebSockets.js keeps with a socket: it copies the fields onto the socket itself. */
export type UserData = { connection: Connection }
export type Live = WebSocket<UserData> & UserData

/** `behind`: something is buffered. `slow`: too much, or for too long; nothing more is taken from the session until it was told (`given up`). */
type Reader = 'current' | 'behind' | 'slow' | 'given up'

export class Connection implements Socket, Placed {
  // A frame touches the first six: together they are two lines of memory, of which thousands of sockets make the processor wait for each.
  #session: SocketSession | null = null
  #isClosing = false
  #ws: Live | null = null
  #reader: Reader = 'current'
  readonly #route: SocketRoute
  readonly #sockets: Sockets
  readonly context: SocketContext & { signal: CancelSignal }
  /** How much may be buffered when the reader is given up: what there is then, and a goodbye. */
  #goodbyeBytesMax = 0
  /** Of the wait for the reader; past it comes the next, harsher step. */
  #deadlineMs = 0
  #closeCode = 0
  place = -1
  #closeReason = ''

  constructor(sockets: Sockets, route: SocketRoute, context: SocketContext) {
    this.#sockets = sockets
    this.#route = route
    this.context = context
  }

  get channelId(): string {
    return this.#route.channel.id
  }

  get bufferedBytes(): number {
    return this.#ws?.getBufferedAmount() ?? 0
  }

  send(text: string): boolean {
    const ws = this.#writable()
    if (!ws) return false
    if (this.#sockets.checksSent && this.#isWrong(text)) return false
    return ws.send(text, false) === sent || this.#press()
  }

  sendBytes(bytes: Uint8Array): boolean {
    const ws = this.#writable()
    if (!ws) return false
    return ws.send(bytes, true) === sent || this.#press()
  }

  close(code: number, reason: string): void {
    if (!this.#ws || this.#isClosing) return
    this.#isClosing = true
    this.#closeCode = code
    this.#closeReason = reason
    queueMicrotask(() => this.#finish())
  }

  /** The carrier has made it, and its call is over: see serve.ts. */
  opened(ws: Live): void {
    if (this.#isClosing) return
    this.#ws = ws
    this.#sockets.add(this)
    try {
      this.#session = this.#route.handler(this, this.context)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** `message` is lent until this returns; text is valid UTF-8, the carrier has ended the socket otherwise. */
  receive(message: ArrayBuffer, isBinary: boolean): void {
    const session = this.#session
    if (session === null || this.#isClosing) return
    const { channel } = this.#route
    try {
      if (!isBinary) takeText(channel, session, Buffer.from(message).toString('utf8'))
      else if (channel.acceptsBinary) session.onBytes(new Uint8Array(message))
      else session.onRefused(binaryRefused)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** The carrier has written something of what was buffered. */
  drained(): void {
    if (!this.#ws || this.#reader === 'current') return
    if (this.#ws.getBufferedAmount() > 0) {
      if (!this.#isClosing && this.#reader === 'behind') this.#deadlineMs = this.#sockets.readerDeadlineMs()
      return
    }
    if (this.#isClosing) return this.#finish()
    if (this.#reader !== 'behind') return
    this.#reader = 'current'
    this.#sockets.unwatch(this)
    this.#tell((session) => session.onDrained())
  }

  /** Called now and then while the reader is behind. */
  overdue(nowMs: number): void {
    if (nowMs < this.#deadlineMs) return
    if (this.#reader === 'behind' && !this.#isClosing) this.#giveUp()
    else this.#ws?.close()
  }

  shutdown(): void {
    this.#tell((session) => session.onShutdown())
  }

  /** At once, without a word of the session. */
  end(code: number, reason: string): void {
    this.#isClosing = true
    this.#ws?.end(code, reason)
  }

  /** The carrier has ended it; the last call. */
  gone(code: number): void {
    const wasOpened = this.#ws !== null
    this.#ws = null
    this.#isClosing = true
    this.context.signal.abort(ended)
    try {
      this.#session?.onGone()
    } catch (error) {
      this.#sockets.report(this, error)
    }
    this.#session = null
    if (wasOpened) this.#sockets.remove(this, code)
  }

  /** Null when nothing may be written: no socket, a goodbye on its way, or a reader so far behind that only memory would grow. */
  #writable(): Live | null {
    if (this.#isClosing) return null
    if (this.#reader === 'slow') return null
    if (this.#reader === 'given up' && this.bufferedBytes > this.#goodbyeBytesMax) return null
    return this.#ws
  }

  /** More is buffered than the reader takes. Always false, for the sender. */
  #press(): false {
    if (this.#reader === 'current') this.#wait()
    if (this.#reader === 'behind' && this.bufferedBytes > this.#sockets.bufferBytesMax) this.#giveUp()
    return false
  }

  #giveUp(): void {
    this.#reader = 'slow'
    this.#deadlineMs = this.#sockets.nowMs() + slowGraceMs
    queueMicrotask(() => {
      this.#reader = 'given up'
      this.#goodbyeBytesMax = this.bufferedBytes + goodbyeBytesMax
      this.#tell((session) => session.onSlowReader())
    })
  }

  #wait(): void {
    this.#reader = 'behind'
    this.#deadlineMs = this.#sockets.readerDeadlineMs()
    this.#sockets.watch(this)
  }

  /**
   * The carrier forgets a socket as soon as its close frame is queued and would hold what is before it for as long as the reader takes a byte
   * now and then. So the close frame waits here, until the rest is written or its time is up; the wait for the peer's answer is the carrier's.
   */
  #finish(): void {
    const ws = this.#ws
    if (!ws) return
    if (ws.getBufferedAmount() === 0) return void ws.end(this.#closeCode, this.#closeReason)
    if (this.#reader === 'current' || this.#reader === 'behind') this.#wait()
  }

  #tell(call: (session: SocketSession) => void): void {
    if (this.#session === null || this.#isClosing) return
    try {
      call(this.#session)
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#sockets.report(this, error)
    this.close(1011, 'internal error')
  }

  #isWrong(text: string): boolean {
    const problem = wrongSent(this.#route.channel, text)
    if (problem !== null) this.#fail(new Error(problem))
    return problem !== null
  }
}

/** What `send` of uWebSockets.js answers when nothing is left behind. */
const sent = 1
/** What a session may still say to a reader that is over its bound. */
const goodbyeBytesMax = 65_536
/** From the session's notice about a slow reader to the cut. */
const slowGraceMs = 5000
const ended = new Error('the socket has ended')
