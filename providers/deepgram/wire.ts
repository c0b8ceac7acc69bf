/** How Deepgram signs and refuses: over HTTP, in a frame of a socket, and in the reason of a closed one. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { VendorWire } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'

export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Token ${apiKey}`],
  classify: (_status, body) => classOfCode(body?.['err_code'] ?? body?.['error_code'] ?? body?.['category']),
}

/** What a frame `{type: "Error"}` means. */
export function classOfFrame({ code }: JsonObject): ErrorClass {
  return classOfCode(code) ?? (typeof code === 'string' ? classOfReason(code) : null) ?? 'server'
}

/** What the close of a socket means that was not done; null: that it was cut. */
export function classOfClose(code: number, reason: string): ErrorClass | null {
  // A bound of ours ended it.
  if (reason.startsWith('local:')) return null
  return classOfReason(reason) ?? closeCodes[code] ?? null
}

/** The same code is spelled in capitals by one endpoint and as the status's phrase by the next: `TOO_MANY_REQUESTS`, `Too Many Requests`. */
function classOfCode(code: unknown): ErrorClass | null {
  return typeof code === 'string' ? (codes[code.toUpperCase().replaceAll(' ', '_')] ?? null) : null
}

/** The code stands alone (`NET-0001`) or ends the link to its explanation (`…/net0001`). */
function classOfReason(reason: string): ErrorClass | null {
  const [, family, number] = /(MESSAGE|DATA|BIG|NET)-?(\d{4})/i.exec(reason) ?? []
  return family === undefined ? null : (closeReasons[`${family.toUpperCase()}-${number}`] ?? null)
}

/** What is not here means what its status means. */
const codes: Partial<Record<string, ErrorClass>> = {
  INVALID_AUTH: 'auth',
  INSUFFICIENT_PERMISSIONS: 'auth',
  ASR_PAYMENT_REQUIRED: 'quota',
  TOO_MANY_REQUESTS: 'rate_limited',
  SERVICE_UNAVAILABLE: 'overloaded',
  INTERNAL_SERVER_ERROR: 'server',
  // The text is longer than one request may be: another provider may take it.
  PAYLOAD_TOO_LARGE: 'unsupported',
}

const closeReasons: Partial<Record<string, ErrorClass>> = {
  'MESSAGE-0000': 'bad_request',
  // Not audio, or not a command.
  'DATA-0000': 'bad_request',
  // More characters than the window allows.
  'DATA-0001': 'rate_limited',
  'BIG-0000': 'unsupported',
  'BIG-0001': 'unsupported',
  'NET-0000': 'server',
  // Nothing came in time: neither audio nor a keep-alive.
  'NET-0001': 'timeout',
  'NET-0002': 'protocol',
  'NET-0003': 'timeout',
}

/** RFC 6455 §7.4.1, for a close that gives no reason. */
const closeCodes: Partial<Record<number, ErrorClass>> = {
  1003: 'bad_request',
  1008: 'bad_request',
  1009: 'unsupported',
  1011: 'server',
  1012: 'overloaded',
  1013: 'overloaded',
}
