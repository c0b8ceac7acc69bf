/** ElevenLabs' authentication and errors, over HTTP and on its sockets. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { VendorWire } from '../wire/http.ts'
import { isObject, type JsonObject } from '../wire/json.ts'

export const wire: VendorWire = {
  sign: (apiKey) => ['xi-api-key', apiKey],
  // For status 422, `detail` is a list with field errors and no code, so the status decides the class.
  classify: (_status, body) => (body && isObject(body['detail']) ? classOfDetail(body['detail']) : null),
  // A key may be limited to speech. The vendor knows such a key, but shows it no account.
  provesKey: ({ detail }) => isObject(detail) && wordsOf(detail).includes('missing_permissions'),
}

/**
 * Classifies a code: a recognizer's message type or a speech socket's `error`. An unknown code counts as a server
 * failure at the vendor.
 */
export const classOfSocketCode = (code: unknown): ErrorClass => (typeof code === 'string' && classes[code]) || 'server'

/** Classifies a failure's `detail`. Older failures have the error code in `status`, newer failures in `code`. */
function classOfDetail(detail: JsonObject): ErrorClass | null {
  return (
    wordsOf(detail)
      .map((word) => classes[word])
      .find((errorClass) => errorClass !== undefined) ?? null
  )
}

const wordsOf = (detail: JsonObject) => [detail['status'], detail['code']].filter((word) => typeof word === 'string')

const classes: Partial<Record<string, ErrorClass>> = {
  // Codes in `detail.status` over HTTP, or in `error` on a speech socket. The HTTP status is ambiguous: missing credit
  // has 401, and 429 has two meanings.
  quota_exceeded: 'quota',
  invalid_api_key: 'auth',
  too_many_concurrent_requests: 'rate_limited',
  system_busy: 'overloaded',
  // Limits and voices differ between models and accounts, so another provider may serve the request.
  max_character_limit_exceeded: 'unsupported',
  text_too_long: 'unsupported',
  voice_not_found: 'unsupported',
  invalid_input_message: 'bad_request',
  // Values in the recognizer's `message_type`. `commit_throttled` is missing here, because it is not a failure.
  error: 'server',
  auth_error: 'auth',
  // The account has not accepted the model's terms.
  unaccepted_terms: 'auth',
  rate_limited: 'rate_limited',
  queue_overflow: 'overloaded',
  resource_exhausted: 'overloaded',
  session_time_limit_exceeded: 'timeout',
  insufficient_audio_activity: 'timeout',
  input_error: 'bad_request',
  invalid_request: 'bad_request',
  chunk_size_exceeded: 'bad_request',
  transcriber_error: 'server',
}
