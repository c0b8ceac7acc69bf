/** Makes a call's request: URL, headers and body. */
import type { Call, ClientOptions, Context, OperationRow } from './client-call.ts'
import { version } from './client-version.ts'

type RequestBody = NonNullable<RequestInit['body']> | null

const keyHeader = 'Idempotency-Key'

/** True if the caller has given the Idempotency-Key, as an option or among the headers. */
export function hasKey({ idempotencyKey, headers }: Call): boolean {
  return idempotencyKey !== undefined || new Headers(headers).has(keyHeader)
}

/** fetch removes `.` and `..` from a path even if they are escaped, so the request would reach another operation. */
function segment(name: string, value: string): string {
  if (['', '.', '..'].includes(value)) throw new TypeError(`The path's ${name} cannot be '${value}'.`)
  return encodeURIComponent(value)
}

export function address({ row, call, options, prefix }: Context): string {
  const path = row.path.replace(/\{(\w+)\}/g, (_match, name: string) => segment(name, String(call.path?.[name])))
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value === undefined) continue
    for (const item of [value].flat()) query.append(name, String(item))
  }
  const root = options.baseUrl.replace(/\/+$/, '') + prefix
  // fetch fails with the same error for an address that is not valid and for a lost connection.
  return new URL(`${root}${path}${query.size > 0 ? `?${query.toString()}` : ''}`).href
}

/** Most operations answer with JSON alone, so their rows have no answers. */
export const answersOf = ({ answers = { 'application/json': 'json' } }: OperationRow) => answers

export function requestHeaders({ row, call, options }: Context): Headers {
  const headers = new Headers({ Accept: Object.keys(answersOf(row)).join(', '), ...userAgent(options) })
  for (const { name, isJson } of row.headers ?? []) {
    const value = call.header?.[name.toLowerCase()]
    if (value === undefined) continue
    headers.set(renamed(name, options), isJson || typeof value === 'object' ? asciiJson(value) : String(value))
  }
  const { apiKey = environmentKey() } = options
  if (!row.isOpen && apiKey) headers.set('Authorization', `Bearer ${apiKey}`)
  if (row.isIdempotent) headers.set(keyHeader, call.idempotencyKey ?? crypto.randomUUID())
  const contentType = contentTypeOf(row, call.body)
  if (contentType !== null) headers.set('Content-Type', contentType)
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value)
  return headers
}

/** Browsers have no environment. */
function environmentKey(): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.['PARLEY_API_KEY']
}

/** fetch writes the Content-Type for a form, because it holds the boundary, and for a Blob with a type. */
function contentTypeOf(row: OperationRow, body: unknown): string | null {
  if (body === undefined || row.body === undefined || row.body === 'multipart') return null
  if (row.body === 'json') return 'application/json'
  return body instanceof Blob && body.type !== '' ? body.type : 'application/octet-stream'
}

/** A header may hold only ASCII. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
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
export function requestBody(row: OperationRow, body: unknown): { body: RequestBody; duplex?: 'half' } {
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
