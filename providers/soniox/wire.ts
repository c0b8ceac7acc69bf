/** How Soniox authenticates and reports errors. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import { classOfStatus } from '../wire/failures.ts'
import type { VendorWire } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'

/**
 * The key is sent with the upgrade. In the first frame, where the vendor took it before, it is refused from
 * 2027-01-15 on.
 */
export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`],
  classify: () => null,
}

/**
 * The meaning of an error frame: its codes are HTTP statuses. A 503 is a request that cannot go on; another attempt
 * may succeed.
 */
export function classOfFrame({ error_code: code, error_type: type }: JsonObject): ErrorClass {
  // The vendor calls it a 400, but another provider would not refuse the request.
  if (type === 'model_not_available') return 'unsupported'
  return typeof code === 'number' ? classOfStatus(code) : 'server'
}
