/** Authentication and errors for servers with OpenAI's protocol. */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import { classOfStatus } from '../wire/failures.ts'
import { readAnswer, type VendorWire } from '../wire/http.ts'
import { isObject, type JsonObject, stringOf } from '../wire/json.ts'

export const wire: VendorWire = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`],
  classify: (status, body) => classOf(status, body && (body['error'] ?? body)),
  failureIn: (body) => (body['error'] ? classOf(null, body['error']) : null),
  // If a restricted key may not list models, OpenAI sends the status for a wrong key and no error code. Only the
  // message names the missing permission.
  provesKey: ({ error }) => isObject(error) && stringOf(error['message']).includes('Missing scopes: api.model.read'),
}

/**
 * Returns the JSON object in `text`, an event's data. Throws ProviderError if it is not an object or holds an `error`.
 */
export const readObject = (text: string, apiKey: string | null): JsonObject => readAnswer(text, wire, apiKey)

/** Classifies an event's `error`. */
export const classOfError = (error: unknown): ErrorClass => classOf(null, error)

/**
 * Classifies an error. Only codes and types are read, because the sentence in `message` is for people and may change.
 */
function classOf(status: number | null, error: unknown): ErrorClass {
  const fields = isObject(error) ? [error['code'], error['type'], error['status']] : []
  const words = fields.filter((field) => typeof field === 'string').join(' ')
  if (/quota|billing|credit|insufficient_funds/.test(words)) return 'quota'
  // An LLM proxy may put the HTTP status of a failure into the body of a 200 response or into an event.
  const number = status ?? fields.find((field) => typeof field === 'number')
  return number === undefined ? classOfWords(words) : classOfStatus(number)
}

function classOfWords(words: string): ErrorClass {
  if (/rate_limit/.test(words)) return 'rate_limited'
  if (/overloaded|unavailable|slow_down/.test(words)) return 'overloaded'
  if (/timeout/.test(words)) return 'timeout'
  if (/authentication|permission|invalid_api_key/.test(words)) return 'auth'
  return /invalid_request/.test(words) ? 'bad_request' : 'server'
}
