/**
 * All generated clients share this module. It makes a request from a client's table row and a call's arguments, and a
 * typed value from the answer. It needs only fetch.
 */
import { RequestTimeoutError } from './client-api-error.ts'
import { type EventSource, readData, readEvents } from './client-events.ts'
import { readResumed } from './client-resume.ts'
import { pause, pauseBefore } from './client-retries.ts'
import { version } from './client-version.ts'

export type ClientOptions = {
  /** The surface's address, such as http://127.0.0.1:8080/router. */
  baseUrl: string
  /** The bearer token for secured operations. */
  apiKey?: string
  fetch?: typeof globalThis.fetch
  /**
   * How long an answer may take, in milliseconds. 600,000 by default. If the answer is a stream, this limits the time
   * until the stream begins.
   */
  timeoutMs?: number
  /** How many times a request is sent again after a failure that permits it. 2 by default. */
  retriesMax?: number
  /** The server's setting `headerPrefix`, if its operator has changed it. `Service` by default. */
  headerPrefix?: string
  /** Sent as User-Agent. Browsers send their own. */
  userAgent?: string
}

/** Options for every operation. */
export type CallOptions = {
  signal?: AbortSignal
  headers?: Record<string, string>
  /** Replaces the client's limit for this call. */
  timeoutMs?: number
}

/** One answer. `type` tells its body apart from other bodies. */
export type Answer<Type extends string, Body> = { status: number; type: Type; headers: Headers; body: Body }

export type OperationRow = {
  method: string
  path: string
  /** The form in which the client returns a body, by media type. */
  answers: Readonly<Record<string, string>>
  /** True if the operation needs no API key. */
  isOpen?: boolean
  /** True if the operation takes an Idempotency-Key. The client makes a key if the call has no key. */
  isIdempotent?: boolean
  body?: 'json' | 'multipart' | 'bytes'
  /** The parts in a multipart body, in their order on the wire. */
  parts?: readonly { name: string; kind: string }[]
  headers?: readonly { name: string; isJson: boolean }[]
  /** Marks a stream's last frame: an event's name, or for a frame without a name `[DONE]` or its data's `type`. */
  terminalEvents?: readonly string[]
  /** If a cut stream can be opened again: the field that tells two events apart, by the events' name. */
  eventIdentity?: Readonly<Record<string, string>>
}

type Call = CallOptions & {
  path?: Record<string, unknown>
  query?: Record<string, Scalar | Scalar[] | undefined>
  /** By names in lower case. */
  header?: Record<string, Scalar | object | undefined>
  body?: unknown
  idempotencyKey?: string
}
type ErrorFactory = (status: number, headers: Headers, body: unknown) => Error
type Scalar = string | number | boolean
type RequestBody = NonNullable<RequestInit['body']> | null
type Method = (call?: Call) => Promise<Answer<string, unknown>>
/** All that an operation's requests have in common. */
type Context = { row: OperationRow; call: Call; options: ClientOptions; toError: ErrorFactory }

const timeoutMsDefault = 600_000
const retriesMaxDefault = 2

export function createClient(
  rows: Readonly<Record<string, OperationRow>>,
  options: ClientOptions,
  toError: ErrorFactory,
): Record<string, Method> {
  return Object.fromEntries(
    Object.entries(rows).map(([id, row]) => [
      id,
      (call: Call = {}) => perform({ row, call, options, toError }, readAnswer),
    ]),
  )
}

/** Each attempt has a new Idempotency-Key. If the caller chose the key, there is only one attempt. */
async function perform<Result>(
  context: Context,
  read: (context: Context, response: Response) => Result | Promise<Result>,
): Promise<Result> {
  const { row, call, options } = context
  const isRepeatable = call.idempotencyKey === undefined && !(call.body instanceof ReadableStream)
  const retriesMax = isRepeatable ? (options.retriesMax ?? retriesMaxDefault) : 0
  for (let retry = 0; ; retry++) {
    try {
      return await attempt(context, read, row.isIdempotent ? (call.idempotencyKey ?? crypto.randomUUID()) : null)
    } catch (error) {
      const pauseMs = retry < retriesMax ? pauseBefore(retry, error) : null
      if (pauseMs === null) throw error
      await pause(pauseMs, call.signal)
    }
  }
}

async function attempt<Result>(
  context: Context,
  read: (context: Context, response: Response) => Result | Promise<Result>,
  idempotencyKey: string | null,
): Promise<Result> {
  const { row, call, options, toError } = context
  const deadline = startDeadline(call.timeoutMs ?? options.timeoutMs ?? timeoutMsDefault)
  const send = options.fetch ?? globalThis.fetch
  try {
    const response = await send(address(row, call, options.baseUrl), {
      method: row.method,
      headers: requestHeaders(row, call, options, idempotencyKey),
      ...requestBody(row, call.body),
      signal: call.signal ? AbortSignal.any([call.signal, deadline.signal]) : deadline.signal,
    })
    const { status, headers } = response
    if (!response.ok) throw toError(status, headers, await jsonOrNull(response))
    return await read(context, response)
  } finally {
    deadline.clear()
  }
}

async function readAnswer(context: Context, response: Response): Promise<Answer<string, unknown>> {
  const { status, headers } = response
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return { status, type, headers, body: await answerBody(context, type, response) }
}

function startDeadline(timeoutMs: number): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new RequestTimeoutError(timeoutMs)), timeoutMs)
  return { signal: controller.signal, clear: () => clearTimeout(timer) }
}

/** fetch takes `.` and `..` out of a path, also if they are escaped, so the request would reach another operation. */
function segment(name: string, value: string): string {
  if (['', '.', '..'].includes(value)) throw new TypeError(`The path's ${name} cannot be '${value}'.`)
  return encodeURIComponent(value)
}

function address(row: OperationRow, call: Call, baseUrl: string): string {
  const path = row.path.replace(/\{(\w+)\}/g, (_match, name: string) => segment(name, String(call.path?.[name])))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value === undefined) continue
    for (const item of [value].flat()) query.append(name, String(item))
  }
  return `${baseUrl.replace(/\/+$/, '')}${path}${query.size > 0 ? `?${query.toString()}` : ''}`
}

function requestHeaders(
  row: OperationRow,
  call: Call,
  options: ClientOptions,
  idempotencyKey: string | null,
): Record<string, string> {
  const headers: Record<string, string> = { Accept: Object.keys(row.answers).join(', '), ...userAgent(options) }
  for (const { name, isJson } of row.headers ?? []) {
    const value = call.header?.[name.toLowerCase()]
    if (value === undefined) continue
    headers[renamed(name, options)] = isJson || typeof value === 'object' ? JSON.stringify(value) : String(value)
  }
  Object.assign(headers, call.headers)
  if (!row.isOpen && options.apiKey !== undefined) headers['Authorization'] = `Bearer ${options.apiKey}`
  if (idempotencyKey !== null) headers['Idempotency-Key'] = idempotencyKey
  // fetch writes the Content-Type of a form, because it holds the boundary.
  if (row.body === 'json') headers['Content-Type'] = 'application/json'
  return headers
}

/** A page's request with another User-Agent would need the server's permission. */
function userAgent({ userAgent = `parley-typescript/${version}` }: ClientOptions): Record<string, string> {
  return 'document' in globalThis || 'importScripts' in globalThis ? {} : { 'User-Agent': userAgent }
}

/** The prefix is the word `service` at the start of a header's name, or after `x-`. */
function renamed(name: string, { headerPrefix }: ClientOptions): string {
  return headerPrefix === undefined ? name : name.replace(/^(x-)?service-/i, (_match, x = '') => `${x}${headerPrefix}-`)
}

/** fetch takes a stream only with `duplex`, which some type declarations do not know. */
function requestBody(row: OperationRow, body: unknown): { body: RequestBody; duplex?: 'half' } {
  if (row.body === undefined || body === undefined) return { body: null }
  if (row.body === 'json') return { body: JSON.stringify(body) }
  if (row.body === 'multipart') return { body: form(row, body as Record<string, unknown>) }
  return { body: body as RequestBody, ...(body instanceof ReadableStream && { duplex: 'half' }) }
}

function form(row: OperationRow, body: Record<string, unknown>): FormData {
  const form = new FormData()
  for (const { name, kind } of row.parts ?? []) {
    const part = body[name]
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

function answerBody(context: Context, type: string, response: Response): unknown {
  const { row, toError } = context
  const kind = row.answers[type]
  if (kind === 'json') return response.json()
  if (kind === 'text') return response.text()
  const source = sourceOf(context, response)
  if (kind === 'data') return readData(source, (data) => toError(response.status, response.headers, data))
  if (kind !== 'events') return response.body
  const { eventIdentity: identity } = row
  return identity === undefined ? readEvents(source) : readResumed(source, { identity, open: reopen(context) })
}

function sourceOf({ row, call }: Context, { body }: Response): EventSource {
  return { body, terminalEvents: row.terminalEvents ?? [], signal: call.signal }
}

/** Each attempt to open a stream again is one request. */
const reopen = (context: Context) => (id: string) =>
  perform(
    { ...context, options: { ...context.options, retriesMax: 0 }, call: resumedAfter(context.call, id) },
    sourceOf,
  )

/** The server ignores the header if there is a cursor. */
function resumedAfter(call: Call, id: string): Call {
  return {
    ...call,
    query: { ...call.query, cursor: undefined },
    header: { ...call.header, 'last-event-id': id },
  }
}

async function jsonOrNull(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return null
  }
}
