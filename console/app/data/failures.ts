/** Sorts errors by the words that a page has for them. */
import { ApiError, ConnectionError, RequestTimeoutError } from '../../../generated/clients/typescript/platform.ts'

export type Failure = {
  kind: 'signed_out' | 'forbidden' | 'not_found' | 'too_many' | 'offline' | 'failed'
  message: string
  /** The error code of the API. Null if the server did not answer. */
  code: string | null
  requestId: string | null
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ApiError)
    return { kind: kindOf(error), message: error.message, code: error.code, requestId: error.requestId }
  const isOffline = error instanceof ConnectionError || error instanceof RequestTimeoutError
  const message = isOffline ? 'The server did not answer.' : error instanceof Error ? error.message : String(error)
  return { kind: isOffline ? 'offline' : 'failed', message, code: null, requestId: null }
}

export const isSignedOut = (error: unknown) => error instanceof ApiError && error.status === 401

/** Returns true if a link is used, replaced or expired. */
export const isDeadLink = (error: unknown) => error instanceof ApiError && error.status === 410

function kindOf({ status }: ApiError): Failure['kind'] {
  if (status === 401) return 'signed_out'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not_found'
  return status === 429 ? 'too_many' : 'failed'
}
