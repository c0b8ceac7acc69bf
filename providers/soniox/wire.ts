/** Soniox' authentication and errors. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import { classOfStatus } from '../wire/failures.ts'
import type { VendorWire } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'

/**
 * The key is sent in the upgrade request. The vendor's older way, a key in the first frame, is refused from 2027-01-15
 * on.
 */
export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`],
  classify: () => null,
}

/**
 * Classifies an error frame. The codes are HTTP statuses. 503 means the request cannot continue, but another attempt
 * may succeed.
 */
export function classOfFrame({ error_code: code, error_type: type }: JsonObject): ErrorClass {
  // The vendor reports this error with status 400 (`bad_request`), but another provider may accept the request.
  if (type === 'model_not_available') return 'unsupported'
  return typeof code === 'number' ? classOfStatus(code) : 'server'
}
