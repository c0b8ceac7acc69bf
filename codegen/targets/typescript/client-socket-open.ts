/** Opens a WebSocket of any constructor: the browser's, Node's or the package ws's. */
import { ApiError, ConnectionError, type ErrorFields, RequestTimeoutError } from './client-api-error.ts'

export type SocketEvent = {
  data?: unknown
  code?: number
  reason?: string
  message?: string
  error?: { code?: unknown } | null
}
/** The answer to a refused upgrade. Only the package ws shows it. */
type Refusal = {
  statusCode?: number
  headers: Record<string, string | string[] | undefined>
  on(type: 'data' | 'close', listener: (chunk: Uint8Array<ArrayBuffer>) => void): unknown
  destroy(): unknown
}
export type SocketLike = {
  binaryType: string
  readonly readyState: number
  readonly bufferedAmount: number
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(code?: number, reason?: string): void
  addEventListener(type: string, listener: (event: SocketEvent) => void): void
  on?: (type: 'unexpected-response', listener: (request: unknown, response: Refusal) => void) => unknown
}
export type SocketConstructor = new (
  url: string,
  protocols: string[],
  /** Only the package ws reads the options. */
  options: { headers: Record<string, string>; maxPayload: number },
) => SocketLike

export type SocketClientOptions = {
  /** http(s) or ws(s), with or without a path before the address of the channel. */
  baseUrl: string
  WebSocket: SocketConstructor
  /** How long the opening may take, in milliseconds. 30,000 by default, and at most. */
  timeoutMs?: number
  /** The server's setting `headerPrefix`, if its operator has changed it. `Service` by default. */
  headerPrefix?: string
} & ({ apiKey: string } | { token: string })

/** `address` may have parameters: /v1/calls/{id}/audio. */
export type ChannelRow = { address: string; subprotocol: string; credentialPrefix: string }

export type Values = Readonly<Record<string, string>>

/** The longest frame from the server. */
export const frameBytesMax = 16 * 1024 * 1024
const openMsMax = 30_000
const refusalBytesMax = 64 * 1024

export function construct(channel: ChannelRow, options: SocketClientOptions, query: Values, path: Values): SocketLike {
  const { baseUrl, headerPrefix = 'Service', WebSocket } = options
  const address = channel.address.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(path[name] ?? ''),
  )
  const search = new URLSearchParams(query).toString()
  const url = baseUrl.replace(/^http/, 'ws').replace(/\/+$/, '') + address + (search && `?${search}`)
  const renamed = (name: string) => name.replace(/^service\./, `${headerPrefix.toLowerCase()}.`)
  const credential = 'token' in options ? [renamed(channel.credentialPrefix) + options.token] : []
  const headers: Record<string, string> = 'token' in options ? {} : { Authorization: `Bearer ${options.apiKey}` }
  return new WebSocket(url, [renamed(channel.subprotocol), ...credential], { headers, maxPayload: frameBytesMax })
}

/** Rejects if the upgrade is refused or takes too long. Browsers do not say why. */
export function whenOpen(socket: SocketLike, { timeoutMs = openMsMax }: SocketClientOptions): Promise<void> {
  const limitMs = Math.min(timeoutMs, openMsMax)
  const opened = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => refuse(new RequestTimeoutError(limitMs)), limitMs)
    const refuse = (error: Error) => {
      clearTimeout(timer)
      reject(error)
      socket.close()
    }
    const lost = ({ message }: SocketEvent) => refuse(new ConnectionError(sentence(message), { wasSent: false }))
    socket.addEventListener('error', lost)
    socket.addEventListener('close', lost)
    socket.addEventListener('open', () => {
      clearTimeout(timer)
      resolve()
    })
    socket.on?.('unexpected-response', (_request, response) => readRefusal(response, refuse))
  })
  // If code waits only for `closed`, a failed `opened` must not be an unhandled rejection.
  opened.catch(() => {})
  return opened
}

const sentence = (message: string | undefined) =>
  message ? `The socket did not open: ${message}` : 'The socket did not open.'

/** Reads at most the first part of the answer's body. A longer body is cut, so its error has no code. */
function readRefusal(response: Refusal, refuse: (error: Error) => void): void {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  response.on('data', (chunk) => {
    bytes += chunk.length
    text += decoder.decode(chunk, { stream: true })
    if (bytes > refusalBytesMax) response.destroy()
  })
  response.on('close', () => {
    const headers = new Headers(
      Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
    )
    refuse(new ApiError(response.statusCode ?? 0, headers, fieldsOf(text)))
  })
}

/** Reads {"error": {"code", "message", …}} and {"error": "message", "code", …}. */
function fieldsOf(text: string): ErrorFields | null {
  let body: Fields | null = null
  try {
    body = JSON.parse(text) as Fields | null
  } catch {
    // Something between client and server made the answer.
  }
  const error = body?.['error']
  const fields = typeof error === 'object' && error !== null ? (error as Fields) : { ...body, message: error }
  if (typeof fields['message'] !== 'string') return null
  return {
    code: textOrNull(fields['code']),
    message: fields['message'],
    retryable: fields['retryable'] === true,
    requestId: textOrNull(fields['request_id'] ?? fields['requestId']),
  }
}

type Fields = Record<string, unknown>
const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null)
