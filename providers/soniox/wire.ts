/** How Soniox authenticates and reports errors. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import { classOfStatus } from '../wire/failures.ts'
import type { VendorWire } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'

/**
 * The key is sent with the upgrade. Formerly the vendor took it in the first frame; there it is refused from 2027-01-15
 * on.
 */
export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`],
  classify: () => null,
}

/**
 * Classifies an error frame. Its codes are HTTP statuses. 503 means that the request cannot continue; another attempt
 * may succeed.
 */
export function classOfFrame({ error_code: code, error_type: type }: JsonObject): ErrorClass {
  // The vendor reports a 400, but another provider would not refuse the request.
  if (type === 'model_not_available') return 'unsupported'
  return typeof code === 'number' ? classOfStatus(code) : 'server'
}
