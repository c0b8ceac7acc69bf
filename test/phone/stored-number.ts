/** Inserts phone numbers as rows in the store, for tests without a carrier. */
import type postgres from 'postgres'
import type { Tenant } from '../../domain/records/organization.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'

export type NumberRow = {
  e164: string
  direction?: 'inbound' | 'outbound' | 'both'
  label?: string | null
  template?: object | null
}

/** Inserts a number. Returns its id. */
export async function insertNumber(
  sql: postgres.Sql,
  { organizationId, test }: Tenant,
  row: NumberRow,
): Promise<string> {
  const { e164, direction = 'outbound', label = null, template = null } = row
  const id = `pn_${uniqueId()}`
  await sql`
    insert into phone_numbers (organization_id, test, id, e164, source, direction, label, dispatch_metadata_template,
      created_at, updated_at)
    values (${organizationId}, ${test}, ${id}, ${e164}, 'managed', ${direction}, ${label},
      ${template === null ? null : JSON.stringify(template)}::text::json, now(), now())`
  return id
}

/** Inserts a number for the server's only organization. Returns the number's id. */
export async function insertOnlyTenantsNumber(sql: postgres.Sql, row: NumberRow): Promise<string> {
  const [organization] = await sql<{ id: string }[]>`select id from organizations limit 1`
  return insertNumber(sql, { organizationId: organization?.id ?? '', test: false }, row)
}
