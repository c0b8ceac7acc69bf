/** How Soniox signs and refuses. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import { classOfStatus } from '../wire/failures.ts'
import type { VendorWire } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'

/** The key goes with the connection. In the first frame, where it once stood, it is refused from 2027-01-15 on. */
export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`],
  classify: () => null,
}

/** Of an error frame: its codes are those of HTTP. A request that cannot go on is a 503, and another one may. */
export function classOfFrame({ error_code: code, error_type: type }: JsonObject): ErrorClass {
  // A 400 to the vendor, but nothing that another provider would refuse too.
  if (type === 'model_not_available') return 'unsupported'
  return typeof code === 'number' ? classOfStatus(code) : 'server'
}
