/** Makes the record of a request's use of an idempotency key. */
import { createHash } from 'node:crypto'
import type { KeyUse } from '../../domain/idempotency/idempotency.ts'

const hex = (text: string) => createHash('sha256').update(text).digest('hex')
let requests = 0

/** Each use has another request id. */
export function keyUse(organizationId: string, key: string, content = 'content'): KeyUse {
  requests += 1
  const operation = 'POST /v1/llm/responses'
  return { organizationId, operation, keyDigest: hex(key), contentHash: hex(content), requestId: `req_${requests}` }
}
