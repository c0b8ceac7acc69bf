/** AssemblyAI's authentication and errors. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { VendorWire } from '../wire/http.ts'

/**
 * The Authorization header holds the key without a scheme. An error has a sentence and no code, so the HTTP status
 * decides its class.
 */
export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', apiKey],
  classify: () => null,
}

/**
 * Classifies the code in an `Error` frame, or the code in the socket's close after it. A wrong key is reported this way
 * too, because the vendor checks the key after the upgrade. Returns null for an unknown code.
 */
export function classOfCode(code: unknown): ErrorClass | null {
  return typeof code === 'number' ? (codes.get(code) ?? null) : null
}

const codes: ReadonlyMap<number, ErrorClass> = new Map([
  [1008, 'auth'],
  [3005, 'server'],
  [3006, 'bad_request'],
  // Audio frames are too short or too long, or arrive too fast.
  [3007, 'bad_request'],
  // The session has reached the vendor's maximum length.
  [3008, 'timeout'],
  [3009, 'rate_limited'],
  [4000, 'bad_request'],
  [4001, 'auth'],
  [4002, 'quota'],
  // The free plan does not include the feature.
  [4003, 'quota'],
  [4008, 'timeout'],
  [4010, 'protocol'],
  [4029, 'rate_limited'],
  [4031, 'timeout'],
  [4032, 'bad_request'],
  [4033, 'bad_request'],
  [4034, 'bad_request'],
  [4101, 'bad_request'],
  [4102, 'rate_limited'],
])
