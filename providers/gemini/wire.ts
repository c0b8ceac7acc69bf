/** How the Gemini API signs and refuses. The key goes into a header: in the URL it would stand in every log on the way. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { VendorWire } from '../wire/http.ts'
import { isObject, type JsonObject, objectsOf } from '../wire/json.ts'

export const wire: VendorWire = {
  sign: (apiKey) => ['x-goog-api-key', apiKey],
  classify: (_status, body) => (body ? classOf(body['error']) : null),
  // An event of a stream that began with 200.
  failureIn: (body) => (isObject(body['error']) ? (classOf(body['error']) ?? 'server') : null),
  retryAfterIn: (body) => retryDelayS(detailsOf(body['error'])),
}

/** google.rpc.Status: `status` is the code's name, `details` say which reason or quota it was. */
function classOf(error: unknown): ErrorClass | null {
  if (!isObject(error)) return null
  const details = detailsOf(error)
  const reason = details.map((detail) => reasons[String(detail['reason'])]).find((known) => known !== undefined)
  if (reason) return reason
  if (error['status'] === 'RESOURCE_EXHAUSTED' && details.some(isDailyQuota)) return 'quota'
  return classes[String(error['status'])] ?? null
}

/** google.rpc.ErrorInfo. A key that is wrong comes as INVALID_ARGUMENT. */
const reasons: Partial<Record<string, ErrorClass>> = {
  API_KEY_INVALID: 'auth',
  BILLING_DISABLED: 'quota',
}

const classes: Partial<Record<string, ErrorClass>> = {
  INVALID_ARGUMENT: 'bad_request',
  OUT_OF_RANGE: 'bad_request',
  // The project may not be served where it is without billing.
  FAILED_PRECONDITION: 'quota',
  UNAUTHENTICATED: 'auth',
  PERMISSION_DENIED: 'auth',
  // The model is part of the path.
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

/** google.rpc.QuotaFailure. A quota of the day does not come back within any wait that a call would take; one of the minute does. */
function isDailyQuota({ violations }: JsonObject): boolean {
  if (!Array.isArray(violations)) return false
  return violations.some((violation) => isObject(violation) && /PerDay/.test(String(violation['quotaId'])))
}

/** google.rpc.RetryInfo: `37.2s`. */
function retryDelayS(details: readonly JsonObject[]): number | undefined {
  const delay = details.map(({ retryDelay }) => retryDelay).find((value) => typeof value === 'string')
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds)
}
