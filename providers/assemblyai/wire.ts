/** How AssemblyAI authenticates and reports errors. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { VendorWire } from '../wire/http.ts'

/** The header holds the key without a scheme. An error has a sentence and no code, so the status decides. */
export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', apiKey],
  classify: () => null,
}

/**
 * Classifies the code in an Error frame and in the close after it. The vendor checks the key after the upgrade. Null if
 * the vendor does not use this code.
 */
export function classOfCode(code: unknown): ErrorClass | null {
  return typeof code === 'number' ? (codes.get(code) ?? null) : null
}

const codes: ReadonlyMap<number, ErrorClass> = new Map([
  [1008, 'auth'],
  [3005, 'server'],
  [3006, 'bad_request'],
  // Frames are too short or too long, or come too fast.
  [3007, 'bad_request'],
  // The session has reached the vendor's maximum length.
  [3008, 'timeout'],
  [3009, 'rate_limited'],
  [4000, 'bad_request'],
  [4001, 'auth'],
  [4002, 'quota'],
  // The free tier lacks the feature.
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
