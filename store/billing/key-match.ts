import type { KeyUse } from '../../domain/idempotency/idempotency.ts'
import type { Sql } from '../postgres/connect.ts'
import { arrayLiteral } from '../postgres/row-values.ts'

/**
 * Returns a condition that finds the rows `k` for these uses by primary key. It compares with constant arrays. With a
 * join the planner would scan the whole index: a scan is cheaper while the table is empty, and the prepared statement
 * keeps this plan after the table has grown. A row also matches if it has one use's organization and another use's
 * digest. If this matters, also compare the request id, because it is unique.
 */
export function ofUses(sql: Sql, uses: readonly KeyUse[]) {
  const organizations = arrayLiteral(new Set(uses.map(({ organizationId }) => organizationId)))
  const operations = arrayLiteral(new Set(uses.map(({ operation }) => operation)))
  const digests = arrayLiteral(uses.map(({ keyDigest }) => `\\x${keyDigest}`))
  return sql`k.organization_id = any(${organizations}::text[]) and k.operation = any(${operations}::text[])
    and k.key_digest = any(${digests}::bytea[])`
}

/** Returns a condition for the rows still owned by these requests. */
export function ownedBy(sql: Sql, uses: readonly KeyUse[]) {
  return sql`k.request_id = any(${arrayLiteral(uses.map(({ requestId }) => requestId))}::text[])`
}
