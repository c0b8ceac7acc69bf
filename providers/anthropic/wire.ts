/** Authentication and errors for the Messages API. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { VendorWire } from '../wire/http.ts'
import { isObject } from '../wire/json.ts'

/** The API version. This version allows sampling parameters, because some models still accept them. */
const version = '2023-06-01'

export const wire: VendorWire = {
  sign: (apiKey) => ['x-api-key', apiKey, 'anthropic-version', version],
  classify: (_status, body) => (body ? classOf(body['error']) : null),
  // A stream with status 200 may still report a failure as an event.
  failureIn: (body) => (body['type'] === 'error' ? (classOf(body['error']) ?? 'server') : null),
}

/** Classifies an error. `details.error_code` is more exact than `type`, but only some errors have it. */
function classOf(error: unknown): ErrorClass | null {
  if (!isObject(error)) return null
  const code = isObject(error['details']) ? error['details']['error_code'] : undefined
  return classes[String(code)] ?? classes[String(error['type'])] ?? null
}

const classes: Partial<Record<string, ErrorClass>> = {
  contract_spend_limit_reached: 'quota',
  enforced_spend_limit_reached: 'quota',
  organization_on_hold: 'auth',
  authentication_error: 'auth',
  permission_error: 'auth',
  billing_error: 'quota',
  invalid_request_error: 'bad_request',
  // All requests use one path, so status 404 means an unknown model.
  not_found_error: 'unsupported',
  rate_limit_error: 'rate_limited',
  overloaded_error: 'overloaded',
  timeout_error: 'timeout',
  api_error: 'server',
}
