import type { KeyUse } from '../domain/idempotency/idempotency.ts'
import type { Sql } from './connect.ts'

/**
 * The condition that picks the rows `k` of these uses by their primary key: constant arrays, and no join. A join lets the planner walk the whole index
 * instead, which is the better plan while the table is empty, and the prepared statement keeps it when the table is not. A cross match (one use's
 * organization with another's digest) is a row too: whoever cares compares the request id, which is unique.
 */
export function ofUses(sql: Sql, uses: readonly KeyUse[]) {
  const organizations = arrayLiteral(new Set(uses.map(({ organizationId }) => organizationId)))
  const operations = arrayLiteral(new Set(uses.map(({ operation }) => operation)))
  const digests = arrayLiteral(uses.map(({ keyDigest }) => `\\x${keyDigest}`))
  return sql`k.organization_id = any(${organizations}::text[]) and k.operation = any(${operations}::text[])
    and k.key_digest = any(${digests}::bytea[])`
}

/** Rows that are still these requests' own. */
export function ownedBy(sql: Sql, uses: readonly KeyUse[]) {
  return sql`k.request_id = any(${arrayLiteral(uses.map(({ requestId }) => requestId))}::text[])`
}

/** PostgreSQL's text form of an array (8.15.6, Array Input and Output Syntax), every item quoted. */
export function arrayLiteral(items: Iterable<string>): string {
  return `{${[...items].map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}
