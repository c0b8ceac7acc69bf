/**
 * Row level security is the second line behind the organization_id in every query: a policy on each table shows only the rows of
 * `app.organization`, and nothing where that is not set. Whatever works for one organization goes through here. Batches of the hot path do not:
 * they hold rows of many organizations in one statement, and a transaction with a setting of its own would cost each three more round trips;
 * their pool says `*` when it connects.
 */
import type { Sql, Tx } from './connect.ts'

export function asOrganization<T>(sql: Sql, organizationId: string, run: (tx: Tx) => Promise<T>): Promise<T> {
  if (organizationId === everyOrganization) throw new Error('not an organization id')
  return within(sql, organizationId, run)
}

/** For the operator's own work: every organization is seen. */
export function asOperator<T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T> {
  return within(sql, everyOrganization, run)
}

const everyOrganization = '*'

async function within<T>(sql: Sql, scope: string, run: (tx: Tx) => Promise<T>): Promise<T> {
  const result = await sql.begin(async (tx) => {
    await tx`select set_config('app.organization', ${scope}, true)`
    return { value: await run(tx) }
  })
  return result.value
}
