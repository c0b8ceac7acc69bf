/**
 * Imported numbers across all organizations: imports waiting for approval, and numbers imported by several
 * organizations.
 */
import type { ImportedNumberRow, NumberImports } from '../../domain/records/number-import.ts'
import type { PhoneNumber } from '../../domain/records/phone-number.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import type { Tenancy } from '../postgres/tenant.ts'

type Operator = Pick<Tenancy, 'asOperator'>

const rowsMax = 10_000

export function createNumberImports({ asOperator }: Operator): NumberImports {
  return {
    waiting: () => asOperator((tx) => read(tx, tx`n.awaits_approval`)),
    conflicts: () =>
      asOperator((tx) =>
        read(
          tx,
          tx`exists (
            select from phone_numbers o
            where o.e164 = n.e164 and ${isLive(tx, 'o')} and o.organization_id <> n.organization_id)`,
        ),
      ),
    approve: (organizationId, e164) =>
      asOperator(async (tx) => {
        const approved = await tx`
          update phone_numbers set awaits_approval = false
          where organization_id = ${organizationId} and e164 = ${e164} and not test and awaits_approval returning id`
        return approved.length > 0
      }),
  }
}

function read(tx: Tx, condition: ReturnType<typeof isLive>): Promise<ImportedNumberRow[]> {
  return tx<ImportedNumberRow[]>`
    select n.e164, n.organization_id as "organizationId", g.name as "organizationName", c.name as "connectionName",
      n.awaits_approval as "awaitsApproval", n.created_at as "createdAt"
    from phone_numbers n
    join organizations g on g.id = n.organization_id
    left join sip_connections c on c.organization_id = n.organization_id and c.test = n.test and c.id = n.sip_connection_id
    where ${isLive(tx, 'n')} and ${condition}
    order by n.e164, n.created_at, n.id limit ${rowsMax}`
}

/** SQL: the number receives or places real calls, now or later. */
const isLive = (tx: Tx, table: 'n' | 'o') => tx`not ${tx(table)}.test and ${tx(table)}.order_status <> 'failed'`

/**
 * Marks numbers if another organization has them too. A tenant cannot read other organizations' rows, so this runs as
 * the operator. All given numbers must belong to the same organization.
 */
export async function markAlsoImported(
  { asOperator }: Operator,
  numbers: readonly PhoneNumber[],
): Promise<PhoneNumber[]> {
  const own = numbers.filter(({ test }) => !test)
  const [first] = own
  if (first === undefined) return [...numbers]
  const all = arrayLiteral(own.map(({ e164 }) => e164))
  const ends = arrayLiteral(own.map(({ e164 }) => e164.slice(-6)))
  // Each operand of `or` can be searched by an index.
  const rows = await asOperator(
    (tx) => tx<{ e164: string }[]>`
      select e164 from phone_numbers
      where not test and order_status <> 'failed' and organization_id <> ${first.organizationId}
        and e164 = any(${all}::text[])
        and (source = 'managed' or (source = 'sip_trunk' and right(e164, 6) = any(${ends}::text[])))`,
  )
  const others = new Set(rows.map(({ e164 }) => e164))
  return numbers.map((number) =>
    others.has(number.e164) && !number.test ? { ...number, isAlsoImported: true } : number,
  )
}
