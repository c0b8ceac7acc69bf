/**
 * A socket opened in advance. The calling code uses it like any other socket, but the server may have closed the
 * connection meanwhile, and this is detected only when no answer arrives. So all messages are stored until the first
 * answer. If the socket ends before this answer, a new socket is opened and gets the same messages.
 *
 *   waiting ──lend──► untried ──an answer, or too much sent──► proven ──► over
 *      │                 └──the socket ends──► reopening ──opened──┘        ▲
 *      └──────────────────── ends, or is closed ────────────────────────────┘
 */
import { PendingFrames } from '../../runtime/outbound/pending-frames.ts'
import type { OutboundSocket, OutboundSocketListener } from '../../runtime/outbound/socket.ts'

export type WarmSocketParts = {
  openedMs: number
  /**
   * Opens the replacement socket. If this rejects for any reason, the first socket's end is reported to the calling
   * code.
   */
  reopen: (signal: AbortSignal) => Promise<OutboundSocket>
  /** Called if the socket ended before its first use. */
  ended: () => void
  /** Called if the socket ended before its first answer. */
  stale: () => void
}

/**
 * The maximum number of stored bytes: two seconds of 16 kHz audio. When more bytes have been sent, the socket counts as
 * alive, because its server must have read some bytes.
 */
const rememberedMax = 65_536

export class WarmSocket implements OutboundSocket, OutboundSocketListener {
  readonly openedMs: number
  lastKeepAliveMs: number
  readonly #parts: WarmSocketParts
  readonly #pendingFrames = new PendingFrames()
  readonly #closing = new AbortController()
  #state: 'waiting' | 'untried' | 'reopening' | 'proven' | 'over' = 'waiting'
  #socket: OutboundSocket
  #listener: OutboundSocketListener | null = null
  #sent: (string | Uint8Array)[] = []
  #sentLength = 0
  #end: { code: number; reason: string } | null = null

  constructor(socket: OutboundSocket, parts: WarmSocketParts) {
    this.#parts = parts
    this.#socket = socket
    this.openedMs = parts.openedMs
    this.lastKeepAliveMs = parts.openedMs
    socket.listen(this)
  }

  /** Marks the socket as in use, when it is handed to a request. */
  lend(): void {
    this.#state = 'untried'
  }

  keepAlive(text: string, nowMs: number): void {
    this.lastKeepAliveMs = nowMs
    this.#socket.send(text)
  }

  get isOpen(): boolean {
    // While an ended socket is being replaced, the calling code still sees the state `open`.
    if (this.#state === 'untried' || this.#state === 'reopening') return true
    return this.#state !== 'over' && this.#socket.isOpen
  }

  get bufferedBytes(): number {
    return this.#state === 'reopening' ? this.#sentLength : this.#socket.bufferedBytes
  }

  listen(listener: OutboundSocketListener): void {
    queueMicrotask(() => {
      this.#pendingFrames.deliver(listener)
      if (this.#closing.signal.aborted) return
      this.#listener = listener
      if (this.#end) listener.closed(this.#end.code, this.#end.reason)
    })
  }

  send(data: string | Uint8Array): void {
    if (this.#state === 'untried' || this.#state === 'reopening') this.#remember(data)
    if (this.#state === 'untried' || this.#state === 'proven') this.#socket.send(data)
  }

  close(): void {
    this.#state = 'over'
    this.#listener = null
    this.#pendingFrames.clear()
    this.#sent = []
    this.#closing.abort()
    this.#socket.close()
  }

  text(text: string): void {
    this.#received()
    if (this.#listener) this.#listener.text(text)
    else this.#keep(text)
  }

  binary(bytes: Uint8Array): void {
    this.#received()
    if (this.#listener) this.#listener.binary(bytes)
    else this.#keep(bytes)
  }

  closed(code: number, reason: string): void {
    if (this.#state === 'untried') return this.#reopen(code, reason)
    const hasWaited = this.#state === 'waiting'
    this.#finish(code, reason)
    if (hasWaited) this.#parts.ended()
  }

  /** Handles a received message. A message received before our first message is a greeting, not an answer. */
  #received(): void {
    if (this.#state === 'untried' && this.#sent.length > 0) this.#prove()
  }

  #prove(): void {
    this.#state = 'proven'
    this.#sent = []
  }

  #keep(frame: string | Uint8Array): void {
    if (this.#pendingFrames.add(frame)) return
    this.#socket.close()
    this.#state = this.#state === 'untried' ? 'proven' : this.#state
    this.closed(1009, 'local: more came than anybody reads')
  }

  #remember(data: string | Uint8Array): void {
    // The bytes are copied, because they are only valid until `send` returns.
    this.#sent.push(typeof data === 'string' ? data : new Uint8Array(data))
    this.#sentLength += data.length
    if (this.#sentLength <= rememberedMax) return
    if (this.#state === 'untried') this.#prove()
    // Called after `send` has returned, because the code that calls `send` does not expect `closed` during the call.
    else queueMicrotask(() => this.#giveUp(1009, 'local: more was sent than is kept for a new socket'))
  }

  #reopen(code: number, reason: string): void {
    this.#state = 'reopening'
    this.#parts.stale()
    this.#parts.reopen(this.#closing.signal).then(
      (socket) => this.#replace(socket),
      () => this.#giveUp(code, reason),
    )
  }

  #replace(socket: OutboundSocket): void {
    if (this.#state !== 'reopening') return socket.close()
    this.#socket = socket
    socket.listen(this)
    for (const data of this.#sent) socket.send(data)
    this.#prove()
  }

  #giveUp(code: number, reason: string): void {
    if (this.#state === 'reopening') this.#finish(code, reason)
  }

  #finish(code: number, reason: string): void {
    this.#state = 'over'
    this.#sent = []
    this.#end = { code, reason }
    this.#listener?.closed(code, reason)
  }
}
