/** Deepgram's authentication and errors: over HTTP, in socket frames and in close reasons. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { VendorWire } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'

export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Token ${apiKey}`],
  classify: (_status, body) => classOfCode(body?.['err_code'] ?? body?.['error_code'] ?? body?.['category']),
}

/** Classifies a frame `{type: "Error"}`. */
export function classOfFrame({ code }: JsonObject): ErrorClass {
  return classOfCode(code) ?? (typeof code === 'string' ? classOfReason(code) : null) ?? 'server'
}

/** Classifies a socket close before the stream's end. Returns null if the connection was lost without a close. */
export function classOfClose(code: number, reason: string): ErrorClass | null {
  // One of our limits closed the socket, so the vendor has not failed.
  if (reason.startsWith('local:')) return null
  return classOfReason(reason) ?? closeCodes[code] ?? null
}

/**
 * Classifies a code. One endpoint spells it in capitals, another as the status phrase: `TOO_MANY_REQUESTS`, `Too Many
 * Requests`.
 */
function classOfCode(code: unknown): ErrorClass | null {
  return typeof code === 'string' ? (codes[code.toUpperCase().replaceAll(' ', '_')] ?? null) : null
}

/**
 * Classifies a close reason. It is the plain code (`NET-0001`) or a link to its explanation, which ends with the code
 * (`…/net0001`).
 */
function classOfReason(reason: string): ErrorClass | null {
  const [, family, number] = /(MESSAGE|DATA|BIG|NET)-?(\d{4})/i.exec(reason) ?? []
  return family === undefined ? null : (closeReasons[`${family.toUpperCase()}-${number}`] ?? null)
}

/** If a code has no entry here, the HTTP status decides the error class. */
const codes: Partial<Record<string, ErrorClass>> = {
  INVALID_AUTH: 'auth',
  INSUFFICIENT_PERMISSIONS: 'auth',
  ASR_PAYMENT_REQUIRED: 'quota',
  TOO_MANY_REQUESTS: 'rate_limited',
  SERVICE_UNAVAILABLE: 'overloaded',
  INTERNAL_SERVER_ERROR: 'server',
  // The text is too long for one request at this vendor. Another provider may accept the text.
  PAYLOAD_TOO_LARGE: 'unsupported',
}

const closeReasons: Partial<Record<string, ErrorClass>> = {
  'MESSAGE-0000': 'bad_request',
  // The message is neither audio nor a command.
  'DATA-0000': 'bad_request',
  // The text exceeds the vendor's character limit per time window.
  'DATA-0001': 'rate_limited',
  'BIG-0000': 'unsupported',
  'BIG-0001': 'unsupported',
  'NET-0000': 'server',
  // The vendor received neither audio nor a keep-alive in time.
  'NET-0001': 'timeout',
  'NET-0002': 'protocol',
  'NET-0003': 'timeout',
}

/** The classes for close codes (RFC 6455 §7.4.1), for a close without a reason. */
const closeCodes: Partial<Record<number, ErrorClass>> = {
  1003: 'bad_request',
  1008: 'bad_request',
  1009: 'unsupported',
  1011: 'server',
  1012: 'overloaded',
  1013: 'overloaded',
}
