/** Telnyx' authentication, base URL and failures (API v2). */
import { PhoneLineError, type PhoneLineFailure } from '../../domain/ports/phone-line.ts'
import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import { type OutboundLimits, outboundDefaults } from '../../runtime/outbound/limits.ts'
import type { VendorWire } from '../wire/http.ts'

export const telnyxWire: VendorWire = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`],
  // The HTTP status alone is enough to classify an error in a request for calls.
  classify: () => null,
}

/**
 * After a command's time limit, its HTTP response is awaited for this additional time: if the response to a dial
 * command comes late, the dialled leg must be hung up.
 */
const lateMs = 25_000

export function telnyxLimits(requestMs: number): OutboundLimits {
  const totalMs = requestMs + lateMs
  return {
    ...outboundDefaults,
    connectMs: requestMs,
    firstByteMs: totalMs,
    idleMs: totalMs,
    totalMs,
    connectionsMax: 64,
    answerBytesMax: 1024 * 1024,
  }
}

/**
 * Converts an error. The carrier's text is dropped, because it repeats phone numbers. The error codes are kept; they
 * are digits.
 */
export function toLineError(error: unknown): PhoneLineError {
  if (error instanceof PhoneLineError) return error
  if (!(error instanceof ProviderError)) return new PhoneLineError('refused', { cause: error })
  const { errorClass, status, sent, cause } = error
  const kind = sent ? (failures[errorClass] ?? 'refused') : 'unreachable'
  // Status 404: the leg is unknown to Telnyx. Status 422: the leg is over, or the command is invalid; the code decides.
  const isGone = status === 404 || (status === 422 && codesIn(cause).some((code) => goneCodes.includes(code)))
  const codes = codesIn(cause).join(' ')
  return new PhoneLineError(kind, {
    isGone,
    sipCode: sipCodeIn(cause),
    cause: new Error(`${errorClass}, status ${status}, codes ${codes}`),
  })
}

const failures: Partial<Record<ErrorClass, PhoneLineFailure>> = {
  unreachable: 'unreachable',
  overloaded: 'unreachable',
  server: 'unreachable',
  timeout: 'timeout',
  cancelled: 'timeout',
  // The connection broke before the response was read, so the result is not known.
  protocol: 'timeout',
}

/** Telnyx' error codes for "Invalid Call Control ID" and "Call has already ended". */
const goneCodes: readonly (string | undefined)[] = ['90015', '90018']

/** Returns the SIP code in an error. Returns null if there is no SIP code. */
function sipCodeIn(cause: unknown): number | null {
  const [, code] = (typeof cause === 'string' ? /"sip_code"\s*:\s*([4-6]\d\d)\b/.exec(cause) : null) ?? []
  return code === undefined ? null : Number(code)
}

export function codesIn(cause: unknown): (string | undefined)[] {
  const text = typeof cause === 'string' ? cause : ''
  return [...text.matchAll(/"code"\s*:\s*"?(\d{1,8})\b/g)].map(([, code]) => code)
}
