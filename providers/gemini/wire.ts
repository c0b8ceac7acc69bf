/**
 * Authentication and errors for the Gemini API. The key is sent in a header and not in the URL, because servers on the
 * way may log URLs.
 */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { VendorWire } from '../wire/http.ts'
import { isObject, type JsonObject, objectsOf } from '../wire/json.ts'

export const wire: VendorWire = {
  sign: (apiKey) => ['x-goog-api-key', apiKey],
  classify: (_status, body) => (body ? classOf(body['error']) : null),
  // A stream with status 200 may still report a failure as an event.
  failureIn: (body) => (isObject(body['error']) ? (classOf(body['error']) ?? 'server') : null),
  retryAfterIn: (body) => retryDelayS(detailsOf(body['error'])),
}

/** Classifies a google.rpc.Status: `status` is the code's name, and `details` contains the reason or the quota. */
function classOf(error: unknown): ErrorClass | null {
  if (!isObject(error)) return null
  const details = detailsOf(error)
  const reason = details
    .map((detail) => reasons[String(detail['reason'])])
    .find((errorClass) => errorClass !== undefined)
  if (reason) return reason
  if (error['status'] === 'RESOURCE_EXHAUSTED' && details.some(isDailyQuota)) return 'quota'
  return classes[String(error['status'])] ?? null
}

/**
 * Reasons in google.rpc.ErrorInfo. They are read before the status, because a wrong key has only the status
 * INVALID_ARGUMENT.
 */
const reasons: Partial<Record<string, ErrorClass>> = {
  API_KEY_INVALID: 'auth',
  BILLING_DISABLED: 'quota',
}

const classes: Partial<Record<string, ErrorClass>> = {
  INVALID_ARGUMENT: 'bad_request',
  OUT_OF_RANGE: 'bad_request',
  // The vendor serves the project's region only if billing is enabled.
  FAILED_PRECONDITION: 'quota',
  UNAUTHENTICATED: 'auth',
  PERMISSION_DENIED: 'auth',
  // The model is part of the path, so an unknown model gets this status.
  NOT_FOUND: 'unsupported',
  RESOURCE_EXHAUSTED: 'rate_limited',
  UNAVAILABLE: 'overloaded',
  DEADLINE_EXCEEDED: 'timeout',
  INTERNAL: 'server',
  UNKNOWN: 'server',
}

function detailsOf(error: unknown): JsonObject[] {
  return isObject(error) ? objectsOf(error['details']) : []
}

/**
 * Returns true if a google.rpc.QuotaFailure is about a day. A request can wait for a quota per minute, but not for a
 * quota per day.
 */
function isDailyQuota({ violations }: JsonObject): boolean {
  if (!Array.isArray(violations)) return false
  return violations.some((violation) => isObject(violation) && /PerDay/.test(String(violation['quotaId'])))
}

/** Reads the delay in google.rpc.RetryInfo, for example `37.2s`. */
function retryDelayS(details: readonly JsonObject[]): number | undefined {
  const delay = details.map(({ retryDelay }) => retryDelay).find((value) => typeof value === 'string')
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds)
}
