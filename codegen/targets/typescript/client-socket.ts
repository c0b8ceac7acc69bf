/**
 * A typed socket over any WebSocket constructor: the browser's, Node's or the package ws's. A browser cannot set
 * headers, so it opens with a short-lived token. A server sends its key, so its constructor must take `{ headers }` third.
 */

export type SocketLike = {
  binaryType: string
  readonly protocol: string
  readonly bufferedAmount: number
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(code?: number, reason?: string): void
  addEventListener(type: string, listener: (event: SocketEvent) => void): void
}
export type SocketEvent = { data?: unknown; code?: number; reason?: string; message?: string }
export type SocketConstructor = new (
  url: string,
  protocols: string[],
  options?: { headers: Record<string, string> },
) => SocketLike

export type SocketClientOptions = {
  /** http(s) or ws(s), with or without a path before the address of the channel. */
  baseUrl: string
  WebSocket: SocketConstructor
} & ({ apiKey: string } | { token: string })

/** `address` may have parameters: /v1/calls/{id}/audio. */
export type ChannelRow = { address: string; subprotocol: string; credentialPrefix: string }
/** The errors that end a socket, by code. */
export type CloseRows = Readonly<Record<string, { closeCode: number | null; retryable: boolean; message: string }>>

type Typed = { type: string }
/** `error` is null after a normal end. */
export type Closed = { code: number; reason: string; error: SocketClosedError | null }

/** The socket ended before its work did. */
export class SocketClosedError extends Error {
  /** The WebSocket close code. 1006: the connection was lost. */
  readonly closeCode: number
  /** The error code, for programs. Null if the server sent no error. */
  readonly code: string | null
  /** Whether a new socket with the same settings may succeed. */
  readonly retryable: boolean

  constructor(closeCode: number, code: string | null, retryable: boolean, message: string) {
    super(message)
    this.name = 'SocketClosedError'
    this.closeCode = closeCode
    this.code = code
    this.retryable = retryable
  }
}

export type TypedSocket<Sends extends Typed, Receives extends Typed> = {
  /** Rejects when the upgrade is refused; browsers do not say why. */
  readonly opened: Promise<void>
  readonly closed: Promise<Closed>
  /** Bytes sent but not yet taken by the network. */
  readonly bufferedBytes: number
  send(frame: Sends): void
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void
  /** Each type has one listener. A frame without a listener is ignored, so frames from later versions are too. */
  on<Type extends Receives['type']>(type: Type, listener: (frame: Extract<Receives, { type: Type }>) => void): void
  onBytes(listener: (bytes: Uint8Array<ArrayBuffer>) => void): void
  close(): void
}

/** Attach the listeners before the next await: a frame without its listener is lost. */
export function openSocket<Sends extends Typed, Receives extends Typed>(
  channel: ChannelRow,
  closeRows: CloseRows,
  options: SocketClientOptions,
  query: Readonly<Record<string, string>> = {},
  path: Readonly<Record<string, string>> = {},
): TypedSocket<Sends, Receives> {
  const address = channel.address.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(path[name] ?? ''),
  )
  const socket = construct({ ...channel, address }, options, query)
  socket.binaryType = 'arraybuffer'
  const listeners = new Map<string, (frame: never) => void>()
  let takeBytes: (bytes: Uint8Array<ArrayBuffer>) => void = () => {}
  let errorCode: string | null = null
  socket.addEventListener('message', ({ data }) => {
    if (data instanceof ArrayBuffer) return takeBytes(new Uint8Array(data))
    const frame = JSON.parse(String(data)) as Receives
    errorCode = errorCodeOf(frame) ?? errorCode
    listeners.get(frame.type)?.(frame as never)
  })
  const closed = new Promise<Closed>((resolve) => {
    socket.addEventListener('close', ({ code = 1006, reason = '' }) =>
      resolve({ code, reason, error: closedError(code, errorCode, closeRows) }),
    )
  })
  return {
    opened: whenOpen(socket),
    closed,
    get bufferedBytes() {
      return socket.bufferedAmount
    },
    send: (frame) => socket.send(JSON.stringify(frame)),
    sendBytes: (bytes) => socket.send(bytes),
    on: (type, listener) => void listeners.set(type, listener),
    onBytes: (listener) => {
      takeBytes = listener
    },
    close: () => socket.close(1000),
  }
}

/** The channel that is compatible with OpenAI nests the code. */
function errorCodeOf(frame: Typed & { code?: unknown; error?: { code?: unknown } }): string | null {
  const code = frame.type === 'error' ? (frame.code ?? frame.error?.code) : null
  return typeof code === 'string' ? code : null
}

const normalCode = 1000
/** These codes say that the connection was lost, or that the server restarts or has too much work. */
const retryableCodes: readonly number[] = [1006, 1012, 1013]

/** Finds the error by the error frame before the close. Without a frame the close code must belong to only one error. */
function closedError(closeCode: number, errorCode: string | null, rows: CloseRows): SocketClosedError | null {
  if (closeCode === normalCode) return null
  const candidates = Object.entries(rows).filter(([, row]) => row.closeCode === closeCode)
  const found = candidates.find(([code]) => code === errorCode) ?? (candidates.length === 1 ? candidates[0] : undefined)
  const [code, row] = found ?? [null, null]
  const message = row?.message ?? `The socket closed with ${closeCode}.`
  return new SocketClosedError(closeCode, code, row?.retryable ?? retryableCodes.includes(closeCode), message)
}

function construct(
  { address, subprotocol, credentialPrefix }: ChannelRow,
  options: SocketClientOptions,
  query: Readonly<Record<string, string>>,
): SocketLike {
  const search = new URLSearchParams(query).toString()
  const url = options.baseUrl.replace(/^http/, 'ws').replace(/\/$/, '') + address + (search && `?${search}`)
  if ('token' in options) return new options.WebSocket(url, [subprotocol, credentialPrefix + options.token])
  return new options.WebSocket(url, [subprotocol], { headers: { Authorization: `Bearer ${options.apiKey}` } })
}

function whenOpen(socket: SocketLike): Promise<void> {
  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    // The package ws says why, a browser does not.
    const refused = ({ message }: SocketEvent) =>
      reject(new Error(message ? `The socket did not open: ${message}` : 'The socket did not open.'))
    socket.addEventListener('error', refused)
    socket.addEventListener('close', refused)
  })
  // If code waits only for `closed`, a failed `opened` must not be an unhandled rejection.
  opened.catch(() => {})
  return opened
}
