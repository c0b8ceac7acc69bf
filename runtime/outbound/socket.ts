/** A WebSocket to another server: bounded both ways, guarded like every outbound connection. */
import { WebSocket } from 'ws'
import type { AddressPolicy } from './address-guard.ts'
import type { Cancellation } from './exchange.ts'
import { KeptFrames } from './kept-frames.ts'
import { upgrade } from './upgrade.ts'

export type OutboundSocketOptions = {
  /** ws: or wss:, with path and query. */
  url: string
  /** Names and values in turn. */
  headers: readonly string[]
  protocols: readonly string[]
  /** From the first packet to the connection, TLS included. */
  connectMs: number
  /** From the connection to the upgrade. */
  openMs: number
  /** A larger message ends the socket. */
  frameBytesMax: number
  /** Bytes waiting to be written at which the socket is given up. */
  bufferedBytesMax: number
  /** Absent for what the operator configured; set for a URL that a user gave. */
  guard?: AddressPolicy
  signal?: Cancellation
}

/** Calls come in order; `closed` is the last. None may throw. */
export interface OutboundSocketListener {
  text(text: string): void
  /** The bytes are the listener's. */
  binary(bytes: Uint8Array): void
  /**
   * RFC 6455 §7.4; 1006 for a socket that was cut, 1005 for a close without a code. Where one of our own bounds ended it, or frames that
   * are none, the code is 1009 or 1002 and the reason begins with `local:`.
   */
  closed(code: number, reason: string): void
}

export interface OutboundSocket {
  /** Who hears what comes from now on, and what came before; nothing is told before the caller's own turn is over. To be set once. */
  listen(listener: OutboundSocketListener): void
  /** Ignored once the socket has ended. Bytes are copied. */
  send(data: string | Uint8Array): void
  readonly bufferedBytes: number
  readonly isOpen: boolean
  /** Says goodbye and, after a grace of 2 s, cuts. Nothing is told to the listener any more. Idempotent. */
  close(): void
}

/**
 * Resolves when the server has agreed. Rejects with UpgradeRefused when it answered something else, otherwise with OutboundError;
 * `sent` is false until there was a connection (and TLS, where asked for) to write the request to.
 */
export function openSocket(options: OutboundSocketOptions): Promise<OutboundSocket> {
  return upgrade(options, (socket) => new WsSocket(socket, options.bufferedBytesMax))
}

class WsSocket implements OutboundSocket {
  readonly #ws: WebSocket
  readonly #bufferedBytesMax: number
  readonly #kept = new KeptFrames()
  #listener: OutboundSocketListener | null = null
  /** Why we ended it ourselves. */
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
    // Not in this call: what the listener refers to may not be made yet, and a socket that greets late would hide that.
    queueMicrotask(() => {
      this.#kept.tell(listener)
      this.#listener = listener
      if (this.#end && !this.#silent) listener.closed(this.#end.code, this.#end.reason)
    })
  }

  send(data: string | Uint8Array): void {
    if (!this.isOpen) return
    if (this.#ws.bufferedAmount + data.length > this.#bufferedBytesMax)
      return this.#cut(1009, 'the server does not read')
    // A frame from the client is masked (RFC 6455 §5.3), which copies it.
    this.#ws.send(data)
  }

  close(): void {
    this.#silent = true
    this.#kept.clear()
    this.#ws.close(1000)
  }

  #message(data: Buffer, isBinary: boolean): void {
    if (this.#silent || this.#bound) return
    if (!this.#listener) {
      if (!this.#kept.add(isBinary ? data : data.toString())) this.#cut(1009, 'more came than anybody reads')
    } else if (isBinary) this.#listener.binary(data)
    else this.#listener.text(data.toString())
  }

  #broken(error: Error): void {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') this.#cut(1009, 'a frame is too large')
    else if (code?.startsWith('WS_ERR_')) this.#cut(1002, 'what came is no frame')
    else this.#ws.terminate()
  }

  #cut(code: number, reason: string): void {
    this.#bound ??= { code, reason: `local: ${reason}` }
    this.#ws.terminate()
  }

  #ended(code: number, reason: Buffer): void {
    this.#end = this.#bound ?? { code, reason: reason.toString() }
    if (!this.#silent) this.#listener?.closed(this.#end.code, this.#end.reason)
  }
}

type End = { code: number; reason: string }
