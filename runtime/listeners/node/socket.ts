import type { Socket } from 'node:net'
import type { SocketOwner, SocketTransport } from '../../engine/transport.ts'
import type { Placed } from '../../timing/roster.ts'
import type { Watch } from '../../timing/watch.ts'
import { encodeClose, encodeMessage, encodePong, ping } from './frame.ts'
import { Receiver } from './receiver.ts'

export type SocketLimits = {
  messageBytesMax: number
  /**
   * The maximum number of frames in a message, and of reads for one frame. Beyond it the socket is cut, because each
   * frame and each read costs memory.
   */
  piecesMax: number
  /** If a socket's client sends nothing for this long, not even a ping or pong, the socket is cut. */
  silenceMs: number
}

/**
 * One socket over a node:http connection. It behaves like a uWebSockets.js socket: if a frame breaks the protocol or a
 * limit, the socket is cut without a close frame. `gone` is called as soon as the close frame is written.
 */
export class NodeSocket implements SocketTransport, Placed {
  place = -1
  readonly #socket: Socket
  readonly #receiver: FrameReader
  readonly #limits: SocketLimits
  readonly #watch: Watch<NodeSocket>
  /** Null after `gone`. The connection then only waits for the peer's close frame or end. */
  #owner: SocketOwner | null
  /** True if bytes came since the last check. A clock call for each frame would cost more. */
  #hasReceived = true
  #receivedMs = 0
  #isPinged = false
  #awaitsDrain = false
  /** The pong frame for the newest ping, while earlier bytes wait to be written. RFC 6455, 5.5.3. */
  #pong: Buffer | null = null

  constructor(socket: Socket, owner: SocketOwner, limits: SocketLimits, watch: Watch<NodeSocket>) {
    this.#socket = socket
    this.#owner = owner
    this.#limits = limits
    this.#watch = watch
    this.#receiver = new FrameReader(this, limits)
    watch.add(this)
    socket.on('data', (chunk: Buffer) => this.read(chunk))
    socket.on('end', () => this.close())
    socket.on('close', () => this.#closed())
  }

  send(message: string | Uint8Array, isBinary: boolean): number {
    this.#socket.write(encodeMessage(message, isBinary))
    if (this.#socket.writableLength === 0) return sent
    this.#awaitDrain()
    return buffered
  }

  getBufferedAmount(): number {
    return this.#socket.writableLength
  }

  end(code: number, reason: string): void {
    if (this.#owner === null) return
    this.#hasReceived = true
    this.#socket.end(encodeClose(code, reason))
    this.#leave(code)
  }

  close(): void {
    this.#closed()
    this.#socket.destroy()
  }

  read(chunk: Buffer): void {
    // After our close frame, further bytes from the peer must not delay the connection's end.
    if (this.#owner === null) return
    this.#hasReceived = true
    this.#receiver.write(chunk)
  }

  receive(message: Uint8Array, isBinary: boolean): void {
    this.#owner?.receive(message, isBinary)
  }

  /**
   * Answers a ping. If a peer pings and does not read, only its newest ping is answered, so its pings cannot fill the
   * memory.
   */
  pinged(payload: Uint8Array): void {
    if (this.#owner === null) return
    const pong = encodePong(payload)
    if (this.#socket.writableLength === 0) return void this.#socket.write(pong)
    this.#pong = pong
    this.#awaitDrain()
  }

  /** Pings a silent peer, and cuts the socket if the silence lasts too long. Called at intervals by the watch. */
  look(nowMs: number): void {
    if (this.#hasReceived) {
      this.#hasReceived = false
      this.#isPinged = false
      this.#receivedMs = nowMs
      return
    }
    const silentMs = nowMs - this.#receivedMs
    if (silentMs >= (this.#owner === null ? goodbyeMs : this.#limits.silenceMs)) return this.close()
    if (this.#isPinged || this.#owner === null || silentMs < this.#limits.silenceMs / 2) return
    this.#isPinged = true
    this.#socket.write(ping)
  }

  /**
   * Calls `drained` when all bytes are written. The stream's `drain` event only follows a full buffer, but a session
   * must know about every waiting byte.
   */
  #awaitDrain(): void {
    if (this.#awaitsDrain) return
    this.#awaitsDrain = true
    // If the write fails, the connection has ended, and 'close' follows.
    this.#socket.write(nothing, (error) => error || this.#drained())
  }

  #drained(): void {
    this.#awaitsDrain = false
    if (this.#owner === null) return
    if (this.#pong !== null) this.#socket.write(this.#pong)
    this.#pong = null
    if (this.#socket.writableLength > 0) this.#awaitDrain()
    this.#owner.drained()
  }

  #leave(code: number): void {
    const owner = this.#owner
    this.#owner = null
    owner?.gone(code)
  }

  #closed(): void {
    this.#leave(cutCode)
    this.#watch.delete(this)
    if (this.#watch.size === 0) this.#watch.stop()
  }
}

/** Uses module-level listeners, because closures for thousands of sockets would cost memory. */
class FrameReader extends Receiver {
  readonly socket: NodeSocket

  constructor(socket: NodeSocket, { messageBytesMax, piecesMax }: SocketLimits) {
    super({ isServer: true, maxPayload: messageBytesMax, maxFragments: piecesMax, maxBufferedChunks: piecesMax })
    this.socket = socket
    this.on('message', onMessage)
    this.on('ping', onPing)
    this.on('conclude', onConclude)
    this.on('error', onError)
  }
}

function onMessage(this: FrameReader, message: Buffer, isBinary: boolean): void {
  this.socket.receive(message, isBinary)
}

function onPing(this: FrameReader, payload: Buffer): void {
  this.socket.pinged(payload)
}

/** Answers the peer's close frame with the same code. */
function onConclude(this: FrameReader, code: number): void {
  this.socket.end(code, '')
}

function onError(this: FrameReader): void {
  this.socket.close()
}

/** The two results of `send`: everything was written, or some bytes are buffered. */
const sent = 1
const buffered = 0
/** RFC 6455, 7.4.1: the close code for a connection's end without a close frame. */
const cutCode = 1006
/** The longest wait for the peer to answer a close frame. */
const goodbyeMs = 16_000
const nothing = new Uint8Array(0)
