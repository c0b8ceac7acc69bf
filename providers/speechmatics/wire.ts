/** Speechmatics' authentication and errors. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { VendorWire } from '../wire/http.ts'

export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`],
  classify: (_status, body) => classOfType(body?.['type']),
}

/** Classifies an `Error` message by its type. Returns null for an unknown type. */
export function classOfType(type: unknown): ErrorClass | null {
  return typeof type === 'string' && Object.hasOwn(types, type) ? (types[type as keyof typeof types] ?? null) : null
}

const types = {
  invalid_message: 'bad_request',
  // The model or the contract does not include the language.
  invalid_model: 'unsupported',
  invalid_language: 'unsupported',
  invalid_config: 'bad_request',
  invalid_audio_type: 'unsupported',
  invalid_output_format: 'bad_request',
  not_authorised: 'auth',
  not_allowed: 'auth',
  job_error: 'server',
  protocol_error: 'protocol',
  // The contract's limit for concurrent connections was reached. If the contract's hours are used up, the code is
  // `timelimit_exceeded`.
  quota_exceeded: 'rate_limited',
  timelimit_exceeded: 'quota',
  idle_timeout: 'timeout',
  session_timeout: 'timeout',
  unknown_error: 'server',
} as const satisfies Record<string, ErrorClass>
