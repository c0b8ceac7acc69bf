/** Converts vendor and connection failures to the error classes used for routing. */
import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import { OutboundError, type OutboundFailure } from '../../runtime/outbound/outbound-error.ts'
import { unreadReason } from '../../runtime/outbound/socket.ts'

export const protocolError = (cause: unknown) => new ProviderError('protocol', { sent: true, cause })

/**
 * Converts an outbound request's failure to a ProviderError. Any other error is a defect in our code and is returned
 * unchanged.
 */
export function toProviderError(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error
  const errorClass = classes[error.failure]
  const isOurs = errorClass === 'cancelled' || errorClass === 'overloaded'
  return new ProviderError(error.sent || isOurs ? errorClass : 'unreachable', {
    // If our queue is full or our reader is too slow, the vendor has not failed (ProviderError.isOurLimit).
    sent: error.sent && errorClass !== 'overloaded',
    cause: error,
  })
}

/**
 * Returns true if the connection ended before the response's end. After a finish reason the text is whole all the same.
 */
export const isCut = (error: unknown): boolean => error instanceof OutboundError && error.failure === 'cut'

export function rejectAsProviderError(error: unknown): never {
  throw toProviderError(error)
}

const classes: Record<OutboundFailure, ErrorClass> = {
  unreachable: 'unreachable',
  connect_timeout: 'unreachable',
  address_refused: 'unreachable',
  // Our own connection limit was reached. The vendor has not refused anything.
  queue_full: 'overloaded',
  unread: 'overloaded',
  first_byte_timeout: 'timeout',
  idle_timeout: 'timeout',
  total_timeout: 'timeout',
  cut: 'protocol',
  protocol: 'protocol',
  answer_too_large: 'protocol',
  cancelled: 'cancelled',
}

/** Returns the error class for an HTTP status without a vendor's error code. */
export function classOfStatus(status: number): ErrorClass {
  if (status === 401 || status === 403) return 'auth'
  if (status === 402) return 'quota'
  if (status === 429) return 'rate_limited'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 503 || status === 529) return 'overloaded'
  if (status >= 500) return 'server'
  // A status below 400 is a redirect or an unexpected success, so the base URL probably is not this API's.
  return status >= 400 ? 'bad_request' : 'protocol'
}

/**
 * Returns the error class for a standard close code (RFC 6455 §7.4.1 and its registry), for vendors without special
 * close codes. Returns null if the connection was lost without a close.
 */
export const classOfCloseCode = (code: number): ErrorClass | null => closeCodes[code] ?? null

const closeCodes: Partial<Record<number, ErrorClass>> = { 1011: 'server', 1012: 'overloaded', 1013: 'overloaded' }

/**
 * Makes the error for a socket closed too early. `errorClass` is null if the close has no class, as after a lost
 * connection.
 */
export function closeFailure(errorClass: ErrorClass | null, code: number, reason: string, apiKey: string | null) {
  const cause = excerpt(`closed with ${code} ${reason}`, apiKey)
  // Our limit for unread bytes closed the socket. This must not count against the vendor, or one slow client could
  // block the vendor for all other clients.
  if (reason === unreadReason) return new ProviderError('overloaded', { sent: false, cause })
  return new ProviderError(errorClass ?? 'protocol', { sent: true, cause })
}

/** Makes the error for a vendor's error frame. */
export const frameFailure = (errorClass: ErrorClass, frame: object, apiKey: string | null): ProviderError =>
  new ProviderError(errorClass, { sent: true, cause: excerpt(JSON.stringify(frame), apiKey) })

/** Shortens a text for the log and removes the API key. */
export function excerpt(text: string, apiKey: string | null): string {
  const short = text.slice(0, 4096)
  return (apiKey ? short.replaceAll(apiKey, '[key]') : short).slice(0, 1024)
}
