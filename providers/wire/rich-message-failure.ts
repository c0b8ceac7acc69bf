/** A failed request to a provider of rich messages, in the words of the port. */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { RichMessageError } from '../../domain/ports/rich-messages.ts'
import { isObject, type JsonObject, objectsOf, stringOf } from './json.ts'

/** Always throws: RichMessageError for a failure of the provider. */
export function toMessageError(error: unknown): never {
  if (!(error instanceof ProviderError)) throw error
  const { errorClass, status, sent, cause } = error
  throw new RichMessageError(
    { status: status ?? null, detail: detailIn(cause), mayBeSent: sent && status === undefined },
    // The text of the provider may repeat the number, so it goes into no log.
    { cause: new Error(`${errorClass}, status ${status}`) },
  )
}

/** The provider has no such thing. Throws RichMessageError for any other failure. */
export function emptyIfUnknown(error: unknown): JsonObject {
  if (error instanceof ProviderError && error.status === 404) return {}
  return toMessageError(error)
}

/** The reason in an answer that refuses. */
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
