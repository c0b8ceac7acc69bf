/** How ElevenLabs signs and refuses, over HTTP and on its sockets. */
import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import { excerpt } from '../wire/failures.ts'
import type { VendorWire } from '../wire/http.ts'
import { isObject, type JsonObject } from '../wire/json.ts'

export const wire: VendorWire = {
  sign: (apiKey) => ['xi-api-key', apiKey],
  // Of a 422 `detail` is a list of fields and holds no code: the status says it all.
  classify: (_status, body) => (body && isObject(body['detail']) ? classOfDetail(body['detail']) : null),
}

/** Where it runs. The first is the one that every key can call; the others keep data in a region, for accounts that have it. */
export const hosts = {
  global: 'https://api.elevenlabs.io',
  us: 'https://api.us.elevenlabs.io',
  eu: 'https://api.eu.residency.elevenlabs.io',
  in: 'https://api.in.residency.elevenlabs.io',
  sg: 'https://api.sg.residency.elevenlabs.io',
} as const

/** The name of the region whose host this is; another server stands for the first. */
export function regionOf(baseUrl: string): string {
  const { origin } = new URL(baseUrl)
  return Object.entries(hosts).find(([, host]) => host === origin)?.[0] ?? 'global'
}

/** `code` is a message type of the transcriber or the `error` of a speech socket; one that is not known is the vendor's own trouble. */
export function socketFailure(code: unknown, frame: JsonObject, apiKey: string | null): ProviderError {
  const errorClass = (typeof code === 'string' && classes[code]) || 'server'
  return new ProviderError(errorClass, { sent: true, cause: excerpt(JSON.stringify(frame), apiKey) })
}

/** A socket that ended before it was due to, whatever it said of that. */
export function closedEarly(code: number, reason: string, apiKey: string | null): ProviderError {
  const cause = `closed with ${code} ${excerpt(reason, apiKey)}`
  return new ProviderError(classOfClose(code) ?? 'protocol', { sent: true, cause })
}

/** Null: the code tells nothing but that it is over. */
export const classOfClose = (code: number): ErrorClass | null => closeClasses[code] ?? null

/** The older field is `status`, the newer one `code`. */
function classOfDetail(detail: JsonObject): ErrorClass | null {
  const words = [detail['status'], detail['code']].filter((word) => typeof word === 'string')
  return words.map((word) => classes[word]).find((errorClass) => errorClass !== undefined) ?? null
}

const classes: Partial<Record<string, ErrorClass>> = {
  // detail.status of HTTP, `error` of a speech socket. Out of credit comes with 401, and 429 has two meanings.
  quota_exceeded: 'quota',
  invalid_api_key: 'auth',
  too_many_concurrent_requests: 'rate_limited',
  system_busy: 'overloaded',
  // Limits and voices differ between models and accounts: another provider may do it.
  max_character_limit_exceeded: 'unsupported',
  text_too_long: 'unsupported',
  voice_not_found: 'unsupported',
  invalid_input_message: 'bad_request',
  // message_type of the transcriber; `commit_throttled` is no failure.
  error: 'server',
  auth_error: 'auth',
  // The account has not accepted the terms of the model.
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

/** RFC 6455 §7.4.1 and its registry. 1008 is used for idleness and for credit alike, so it tells nothing. */
const closeClasses: Partial<Record<number, ErrorClass>> = { 1011: 'server', 1012: 'overloaded', 1013: 'overloaded' }
