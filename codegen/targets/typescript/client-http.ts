/**
 * All generated clients share this module. It makes a request from a client's table row and a call's arguments, and a
 * typed value from the answer. It needs only fetch.
 */

export type ClientOptions = {
  /** The surface's address, such as http://127.0.0.1:8080/router. */
  baseUrl: string
  /** The bearer token for secured operations. */
  apiKey?: string
  fetch?: typeof globalThis.fetch
  /** The longest event in a stream, in bytes. 1 MiB by default. */
  eventBytesMax?: number
}

/** Options for every operation. */
export type CallOptions = { signal?: AbortSignal; headers?: Record<string, string> }

/** One answer. `type` tells its body apart from other bodies. */
export type Answer<Type extends string, Body> = { status: number; type: Type; headers: Headers; body: Body }

export type OperationRow = {
  method: string
  path: string
  secured: boolean
  /** True if the operation takes an Idempotency-Key. The client makes a key if the call has no key. */
  idempotent: boolean
  body: 'json' | 'multipart' | 'bytes' | null
  /** The parts in a multipart body, in their order on the wire. */
  parts: readonly { name: string; kind: string }[]
  /** The form in which the client returns a body, by media type. */
  answers: Readonly<Record<string, string>>
  /** Marks a stream's last frame: an event's name, or for a frame without a name `[DONE]` or its data's `type`. */
  terminalEvents: readonly string[]
}

/** A stream ended without its last event: the connection was cut, and the answer is incomplete. */
export class StreamTruncatedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StreamTruncatedError'
  }
}

type Call = CallOptions & {
  path?: Record<string, unknown>
  query?: Record<string, Scalar | Scalar[] | undefined>
  body?: unknown
  idempotencyKey?: string
}
type ErrorFactory = (status: number, headers: Headers, body: unknown) => Error
type Scalar = string | number | boolean
type RequestBody = NonNullable<RequestInit['body']> | null
type Method = (call?: Call) => Promise<Answer<string, unknown>>

const eventBytesMaxDefault = 1024 * 1024

export function createClient(
  rows: Readonly<Record<string, OperationRow>>,
  options: ClientOptions,
  toError: ErrorFactory,
): Record<string, Method> {
  return Object.fromEntries(
    Object.entries(rows).map(([id, row]) => [id, (call: Call = {}) => perform(row, call, options, toError)]),
  )
}

async function perform(row: OperationRow, call: Call, options: ClientOptions, toError: ErrorFactory) {
  const send = options.fetch ?? globalThis.fetch
  const response = await send(address(row, call, options.baseUrl), {
    method: row.method,
    headers: requestHeaders(row, call, options),
    body: requestBody(row, call.body),
    signal: call.signal ?? null,
  })
  const { status, headers } = response
  if (!response.ok) throw toError(status, headers, await jsonOrNull(response))
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const body = await answerBody(row, type, response, options.eventBytesMax ?? eventBytesMaxDefault, toError)
  return { status, type, headers, body }
}

function address(row: OperationRow, call: Call, baseUrl: string): string {
  const path = row.path.replace(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(String(call.path?.[name])))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value === undefined) continue
    for (const item of [value].flat()) query.append(name, String(item))
  }
  return `${baseUrl.replace(/\/+$/, '')}${path}${query.size > 0 ? `?${query.toString()}` : ''}`
}

function requestHeaders(row: OperationRow, call: Call, options: ClientOptions): Record<string, string> {
  const headers: Record<string, string> = { Accept: Object.keys(row.answers).join(', '), ...call.headers }
  if (row.secured && options.apiKey !== undefined) headers['Authorization'] = `Bearer ${options.apiKey}`
  if (row.idempotent) headers['Idempotency-Key'] = call.idempotencyKey ?? crypto.randomUUID()
  // fetch writes the Content-Type of a form, because it holds the boundary.
  if (row.body === 'json') headers['Content-Type'] = 'application/json'
  return headers
}

function requestBody(row: OperationRow, body: unknown): RequestBody {
  if (row.body === null || body === undefined) return null
  if (row.body === 'json') return JSON.stringify(body)
  if (row.body === 'bytes') return body as RequestBody
  const form = new FormData()
  for (const { name, kind } of row.parts) {
    const part = (body as Record<string, unknown>)[name]
    if (part === undefined) continue
    if (kind === 'text') for (const text of [part as string | string[]].flat()) form.append(name, text)
    else form.append(name, kind === 'json' ? jsonPart(part) : bytesPart(part))
  }
  return form
}

function jsonPart(value: unknown): Blob {
  return new Blob([JSON.stringify(value)], { type: 'application/json' })
}

function bytesPart(value: unknown): Blob {
  return value instanceof Blob
    ? value
    : new Blob([value as Uint8Array<ArrayBuffer>], { type: 'application/octet-stream' })
}

function answerBody(
  row: OperationRow,
  type: string,
  response: Response,
  eventBytesMax: number,
  toError: ErrorFactory,
): unknown {
  const kind = row.answers[type]
  if (kind === 'json') return response.json()
  if (kind === 'text') return response.text()
  if (kind === 'data') return readData(response, row.terminalEvents, eventBytesMax, toError)
  return kind === 'events' ? readEvents(response.body, row.terminalEvents, eventBytesMax) : response.body
}

async function jsonOrNull(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return null
  }
}

/** Yields {event, data} until a terminal event. Throws StreamTruncatedError if the stream ends before. */
async function* readEvents(
  body: ReadableStream<Uint8Array> | null,
  terminalEvents: readonly string[],
  eventBytesMax: number,
): AsyncGenerator<{ event: string; data: unknown }> {
  for await (const { event, data } of frames(body, eventBytesMax)) {
    yield { event, data: JSON.parse(data) }
    if (terminalEvents.includes(event)) return
  }
  throw new StreamTruncatedError('The stream ended before its last event; the connection was cut.')
}

/** Yields the data in frames without a name, until the last frame. Throws a failed stream's error. */
async function* readData(
  { status, headers, body }: Response,
  terminalEvents: readonly string[],
  eventBytesMax: number,
  toError: ErrorFactory,
): AsyncGenerator<unknown> {
  for await (const { data } of frames(body, eventBytesMax)) {
    if (data === '[DONE]') return
    const value = JSON.parse(data) as Record<string, unknown>
    if (value['error'] !== undefined) throw toError(status, headers, value)
    yield value
    if (terminalEvents.includes(String(value['type']))) return
  }
  throw new StreamTruncatedError('The stream ended before its last event; the connection was cut.')
}

/** WHATWG's event stream: lines end in LF, CR or CRLF, a blank line ends an event, and a colon starts a comment. */
async function* frames(body: ReadableStream<Uint8Array> | null, eventBytesMax: number) {
  let event = 'message'
  let data: string[] = []
  for await (const line of lines(body, eventBytesMax)) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (name === 'event') event = value
    if (name === 'data') data.push(value)
    if (line !== '') continue
    if (data.length > 0) yield { event, data: data.join('\n') }
    event = 'message'
    data = []
  }
}

async function* lines(body: ReadableStream<Uint8Array> | null, eventBytesMax: number) {
  const reader = body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      // A CR at the very end is kept back, because its LF may come with the next chunk.
      const pieces = (rest + decoder.decode(chunk.value, { stream: true })).split(/\r\n|\n|\r(?!$)/)
      rest = pieces.pop() ?? ''
      if (rest.length > eventBytesMax) throw new StreamTruncatedError(`An event is longer than ${eventBytesMax} bytes.`)
      yield* pieces
    }
  } finally {
    // If the reader stops, the server must stop sending.
    await reader.cancel().catch(() => undefined)
  }
}
