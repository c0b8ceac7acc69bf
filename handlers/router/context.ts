import { hash } from 'node:crypto'
import type { RequestContext } from '../../domain/dispatch/request.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { Context } from '../../runtime/engine/handler.ts'

/**
 * Returns the context with its idempotency key. For the router API, the HTTP engine has already checked that a POST has
 * an idempotency key and a content hash.
 */
export function contextOf(
  header: { 'idempotency-key': string },
  context: Context<Caller>,
): RequestContext & Required<Pick<RequestContext, 'key'>> {
  const { caller, requestId, operation, contentHash, signal, trace, logFields } = context
  const keyDigest = hash('sha256', header['idempotency-key'])
  const key = { keyDigest, contentHash: contentHash ?? '' }
  return { caller, requestId, operation, key, signal, trace, logFields }
}
