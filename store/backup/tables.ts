/** Reads from the database's catalog which tables belong in a backup. */
import type { Tx } from '../postgres/connect.ts'

export type TableShape = {
  name: string
  /** The stored columns, in alphabetical order. Generated columns are absent, because Postgres computes them again. */
  columns: readonly string[]
  /** For each identity column, its sequence's last number. */
  counters: Readonly<Record<string, string>>
}

/** `migrate` writes this table, so a backup leaves it out. The backup's header has the schema version. */
const versionTable = 'parley_migrations'

type Row = { name: string; columns: string[]; counted: string[]; parents: string[] }

/** Orders the tables by their references, so that every row comes after its parent rows. */
export async function tablesOf(tx: Tx): Promise<TableShape[]> {
  const rows = await tx<Row[]>`
    select c.relname as name, of_columns.*,
      (select coalesce(json_agg(distinct parent.relname), '[]') from pg_constraint f
        join pg_class parent on parent.oid = f.confrelid
        where f.contype = 'f' and f.conrelid = c.oid and f.confrelid <> c.oid) as parents
    from pg_class c, lateral (
      select json_agg(a.attname order by a.attname) as columns,
        coalesce(json_agg(a.attname) filter (where a.attidentity <> ''), '[]') as counted
      from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') of_columns
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> ${versionTable}
    order by c.relname`
  const shapes: TableShape[] = []
  for (const { name, columns, counted } of parentsFirst(rows))
    shapes.push({ name, columns, counters: await countersOf(tx, name, counted) })
  return shapes
}

function parentsFirst(rows: readonly Row[]): Row[] {
  const byName = new Map(rows.map((row) => [row.name, row]))
  const ordered = new Set<Row>()
  const underWay = new Set<Row>()
  const visit = (row: Row) => {
    if (ordered.has(row)) return
    if (underWay.has(row)) throw new Error(`the table ${row.name} refers to itself through other tables`)
    underWay.add(row)
    for (const name of row.parents) {
      const parent = byName.get(name)
      if (parent !== undefined) visit(parent)
    }
    ordered.add(row)
  }
  for (const row of rows) visit(row)
  return [...ordered]
}

async function countersOf(tx: Tx, table: string, columns: readonly string[]): Promise<Record<string, string>> {
  const counters: Record<string, string> = {}
  for (const column of columns) {
    const [row] = await tx<{ last: string | null }[]>`
      select pg_sequence_last_value(pg_get_serial_sequence(${table}, ${column})::regclass)::text as last`
    if (row?.last) counters[column] = row.last
  }
  return counters
}
