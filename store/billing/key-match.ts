import type { KeyUse } from '../../domain/idempotency/idempotency.ts'
import type { Sql } from '../postgres/connect.ts'
import { arrayLiteral } from '../postgres/row-values.ts'

/**
 * The condition that picks the rows `k` of these uses by their primary key, with constant arrays instead of a join.
 * With a join the planner walks the whole index, which is the better plan while the table is empty, and the
 * prepared statement keeps that plan when the table has grown. A row that matches one use's organization and
 * another's digest is picked too: code that must exclude it compares the request id, which is unique.
 */
export function ofUses(sql: Sql, uses: readonly KeyUse[]) {
  const organizations = arrayLiteral(new Set(uses.map(({ organizationId }) => organizationId)))
  const operations = arrayLiteral(new Set(uses.map(({ operation }) => operation)))
  const digests = arrayLiteral(uses.map(({ keyDigest }) => `\\x${keyDigest}`))
  return sql`k.organization_id = any(${organizations}::text[]) and k.operation = any(${operations}::text[])
    and k.key_digest = any(${digests}::bytea[])`
}

/** The rows that still belong to these requests. */
export function ownedBy(sql: Sql, uses: readonly KeyUse[]) {
  return sql`k.request_id = any(${arrayLiteral(uses.map(({ requestId }) => requestId))}::text[])`
}
