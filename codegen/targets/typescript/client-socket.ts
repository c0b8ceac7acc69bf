/**
 * A typed socket over any WebSocket constructor. A browser cannot set headers, so it opens the socket with a
 * short-lived token. A server sends its API key in a header, so its constructor must take `{ headers }` as the third
 * argument.
 */
import { type ApiError, type ConnectionError, ProtocolError, type RequestTimeoutError } from './client-api-error.ts'
import { byteLength } from './client-events.ts'
import {
  type CloseRows,
  closedError,
  type ErrorFrame,
  errorIn,
  lostCode,
  normalCode,
  SocketClosedError,
} from './client-socket-close.ts'
import {
  type ChannelRow,
  construct,
  frameBytesMax,
  type SocketClientOptions,
  type SocketEvent,
  type SocketLike,
  type Values,
  whenOpen,
} from './client-socket-open.ts'

type Typed = { type: string }
/** The reasons why a socket did not open: the server's answer, no answer in time, or no connection. */
type OpenError = ApiError | RequestTimeoutError | ConnectionError
/** `error` is null if the server closed with 1000, and if the caller closed. */
export type Closed = { code: number; reason: string; error: SocketClosedError | ProtocolError | OpenError | null }

export type TypedSocket<Sends extends Typed, Receives extends Typed> = {
  /**
   * Rejects if the upgrade is refused or takes too long. Only the package ws shows the server's answer, as an ApiError.
   */
  readonly opened: Promise<void>
  readonly closed: Promise<Closed>
  /** Bytes sent but not yet taken by the network. */
  readonly bufferedBytes: number
  /**
   * Sends a frame at once, and resolves when the network has taken enough. Await each frame if you send faster than the
   * network. Rejects with SocketClosedError if the socket is closed.
   */
  send(frame: Sends): Promise<void>
  sendBytes(bytes: Uint8Array<ArrayBuffer>): Promise<void>
  /**
   * Each type has one listener. A frame without a listener is ignored, for example a frame type from a later server
   * version.
   */
  on<Type extends Receives['type']>(type: Type, listener: (frame: Extract<Receives, { type: Type }>) => void): void
  onBytes(listener: (bytes: Uint8Array<ArrayBuffer>) => void): void
  close(): void
}

/** `send` waits while more bytes than this wait for the network. */
const bufferedBytesMax = 8 * 1024 * 1024
/** A WebSocket has no event for a buffer that drains. */
const drainPollMs = 10
const [connecting, open] = [0, 1]
/** A page may close only with 1000 or 3000 to 4999. 1007 is the protocol's code for wrong data. */
const protocolErrorCode = 4007

/** Attach the listeners before the next await: a frame without its listener is lost. */
export function openSocket<Sends extends Typed, Receives extends Typed>(
  channel: ChannelRow,
  closeRows: CloseRows,
  options: SocketClientOptions,
  query: Values = {},
  path: Values = {},
): TypedSocket<Sends, Receives> {
  return new JsonSocket(construct(channel, options, query, path), closeRows, options)
}

class JsonSocket<Sends extends Typed, Receives extends Typed> implements TypedSocket<Sends, Receives> {
  readonly opened: Promise<void>
  readonly closed: Promise<Closed>
  readonly #socket: SocketLike
  readonly #closeRows: CloseRows
  readonly #listeners = new Map<string, (frame: never) => void>()
  #takeBytes: (bytes: Uint8Array<ArrayBuffer>) => void = () => {}
  #errorFrame: ErrorFrame | null = null
  #isClosedByCaller = false
  #isBroken = false
  #end: (closed: Closed) => void = () => {}

  constructor(socket: SocketLike, closeRows: CloseRows, options: SocketClientOptions) {
    this.#socket = socket
    this.#closeRows = closeRows
    socket.binaryType = 'arraybuffer'
    this.closed = new Promise((resolve) => {
      this.#end = resolve
    })
    this.opened = whenOpen(socket, options)
    socket.addEventListener('message', ({ data }) => this.#take(data))
    socket.addEventListener('error', (event) => this.#takeError(event))
    socket.addEventListener('close', ({ code = lostCode, reason = '' }) => {
      const error = (found: Closed['error']) => (this.#isClosedByCaller || code === normalCode ? null : found)
      this.opened.then(
        () => this.#end({ code, reason, error: error(closedError(code, reason, this.#errorFrame, this.#closeRows)) }),
        (failed: OpenError) => this.#end({ code, reason, error: error(failed) }),
      )
    })
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  send(frame: Sends): Promise<void> {
    return this.#send(JSON.stringify(frame))
  }

  sendBytes(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#send(bytes)
  }

  on<Type extends Receives['type']>(type: Type, listener: (frame: Extract<Receives, { type: Type }>) => void): void {
    this.#listeners.set(type, listener)
  }

  onBytes(listener: (bytes: Uint8Array<ArrayBuffer>) => void): void {
    this.#takeBytes = listener
  }

  close(): void {
    this.#isClosedByCaller = true
    this.#socket.close(normalCode)
  }

  #send(data: string | Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.#socket.readyState === connecting)
      return Promise.reject(new Error('Wait for `opened` before you send the first frame.'))
    const sent = this.#sendAndDrain(data)
    // If the caller does not wait for a frame, a close must not end the process. `closed` has the same error.
    sent.catch(() => {})
    return sent
  }

  async #sendAndDrain(data: string | Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.#socket.readyState !== open) throw await this.#closedError()
    this.#socket.send(data)
    while (this.#socket.bufferedAmount > bufferedBytesMax) {
      await new Promise((resolve) => setTimeout(resolve, drainPollMs))
      if (this.#socket.readyState !== open) throw await this.#closedError()
    }
  }

  async #closedError(): Promise<SocketClosedError> {
    const { code, reason, error } = this.#isClosedByCaller
      ? { code: normalCode, reason: '', error: null }
      : await this.closed
    return error instanceof SocketClosedError ? error : closedError(code, reason, null, this.#closeRows)
  }

  #take(data: unknown): void {
    if (this.#isBroken) return
    if (data instanceof ArrayBuffer) {
      if (data.byteLength > frameBytesMax) this.#break(tooLong)
      else this.#takeBytes(new Uint8Array(data))
      return
    }
    const text = String(data)
    if (byteLength(text) > frameBytesMax) return this.#break(tooLong)
    const frame = objectOrNull(text)
    if (frame === null) return this.#break('A frame is not a JSON object.')
    this.#errorFrame = errorIn(frame) ?? this.#errorFrame
    this.#listeners.get(String(frame.type))?.(frame as never)
  }

  /** The package ws reports a frame that breaks the protocol or its limits. */
  #takeError({ error, message = '' }: SocketEvent): void {
    if (String(error?.code).startsWith('WS_ERR_')) this.#break(message)
  }

  #break(message: string): void {
    this.#isBroken = true
    this.#end({ code: protocolErrorCode, reason: '', error: new ProtocolError(message) })
    if (this.#socket.readyState === open) this.#socket.close(protocolErrorCode)
  }
}

const tooLong = `A frame is longer than ${frameBytesMax} bytes.`

function objectOrNull(text: string): Typed | null {
  try {
    const value = JSON.parse(text) as Typed | null
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
