import { WebSocket } from 'ws'
import { PendingFrames } from './pending-frames.ts'
import { type OutboundSocket, type OutboundSocketListener, type OutboundSocketOptions, unreadReason } from './socket.ts'
import { upgrade } from './upgrade.ts'

/**
 * Resolves when the server has accepted the upgrade. Rejects with UpgradeRefused if the server answered otherwise, else
 * with OutboundError. Its `sent` is false if no connection (with TLS for wss:) existed to write the request to.
 */
export function openSocket(options: OutboundSocketOptions): Promise<OutboundSocket> {
  return upgrade(options, (socket) => new WsSocket(socket, options.bufferedBytesMax))
}

class WsSocket implements OutboundSocket {
  readonly #ws: WebSocket
  readonly #bufferedBytesMax: number
  readonly #pending = new PendingFrames()
  #listener: OutboundSocketListener | null = null
  /** Set if one of our limits ended the socket. */
  #bound: End | null = null
  #end: End | null = null
  #silent = false

  constructor(ws: WebSocket, bufferedBytesMax: number) {
    this.#ws = ws
    this.#bufferedBytesMax = bufferedBytesMax
    ws.on('message', (data, isBinary) => this.#message(data as Buffer, isBinary))
    ws.on('error', (error) => this.#broken(error))
    ws.on('close', (code, reason) => this.#ended(code, reason))
  }

  get isOpen(): boolean {
    return this.#ws.readyState === WebSocket.OPEN
  }

  get bufferedBytes(): number {
    return this.isOpen ? this.#ws.bufferedAmount : 0
  }

  listen(listener: OutboundSocketListener): void {
    // The listener is called after this call, because it may use variables that the calling code sets only afterwards.
    // Most frames come late, so a direct call would fail only rarely and the mistake would stay hidden.
    queueMicrotask(() => {
      this.#pending.deliver(listener)
      this.#listener = listener
      if (this.#end && !this.#silent) listener.closed(this.#end.code, this.#end.reason)
    })
  }

  send(data: string | Uint8Array): void {
    if (!this.isOpen) return
    if (this.#ws.bufferedAmount + data.length > this.#bufferedBytesMax) return this.#cut(1009, unreadReason)
    // `send` copies the data, because a client's frame is masked (RFC 6455 §5.3).
    this.#ws.send(data)
  }

  close(): void {
    this.#silent = true
    this.#pending.clear()
    this.#ws.close(1000)
  }

  #message(data: Buffer, isBinary: boolean): void {
    if (this.#silent || this.#bound) return
    if (!this.#listener) {
      if (!this.#pending.add(isBinary ? data : data.toString())) this.#cut(1009, 'local: more came than anybody reads')
    } else if (isBinary) this.#listener.binary(data)
    else this.#listener.text(data.toString())
  }

  #broken(error: Error): void {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') this.#cut(1009, 'local: a frame is too large')
    else if (code?.startsWith('WS_ERR_')) this.#cut(1002, 'local: what came is no frame')
    else this.#ws.terminate()
  }

  #cut(code: number, reason: string): void {
    this.#bound ??= { code, reason }
    this.#ws.terminate()
  }

  #ended(code: number, reason: Buffer): void {
    this.#end = this.#bound ?? { code, reason: reason.toString() }
    if (!this.#silent) this.#listener?.closed(this.#end.code, this.#end.reason)
  }
}

type End = { code: number; reason: string }
