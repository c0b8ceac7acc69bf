/** Converts a failed rich-message request to the domain's errors. */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { RichMessageError } from '../../domain/ports/rich-messages.ts'
import { isObject, type JsonObject, objectsOf, stringOf } from './json.ts'

/** Always throws: a RichMessageError for a provider's failure, or any other error unchanged. */
export function toMessageError(error: unknown): never {
  if (!(error instanceof ProviderError)) throw error
  const { errorClass, status, sent, cause } = error
  throw new RichMessageError(
    { status: status ?? null, detail: detailIn(cause), mayBeSent: sent && status === undefined },
    // The provider's text is dropped, because it may contain the phone number and must not be logged.
    { cause: new Error(`${errorClass}, status ${status}`) },
  )
}

/**
 * Returns an empty object if the resource is unknown to the provider (404). Throws RichMessageError for any other
 * failure.
 */
export function emptyIfUnknown(error: unknown): JsonObject {
  if (error instanceof ProviderError && error.status === 404) return {}
  return toMessageError(error)
}

/** Returns the reason given in a refusal, or null if there is no reason. */
function detailIn(cause: unknown): string | null {
  if (typeof cause !== 'string') return null
  try {
    const body: unknown = JSON.parse(cause)
    const [first] = isObject(body) ? objectsOf(body['errors']) : []
    return stringOf(first?.['detail']) || null
  } catch {
    return null
  }
}
