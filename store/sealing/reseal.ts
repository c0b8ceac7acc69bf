/** Moves sealed secrets to the current master key, and finds those that no master key of this process opens. */
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import type { Sealed, Sealer } from './sealed.ts'

/** A table with sealed columns. */
export type SealedTable<Row extends Sealed> = {
  table: string
  /** Before every row. */
  start: Row
  /** The place that the secret of a row is bound to. */
  placeOf(row: Row): readonly string[]
  /** Rows behind `after` that were sealed with one of these master keys, locked. `names` is an array as Postgres writes it. */
  read(tx: Tx, after: Row, names: string, rowsMax: number): Promise<Row[]>
  write(tx: Tx, row: Row, sealed: Sealed): Promise<{ count: number }>
}

/** `failed` stay as they are: something other than Parley changed their rows. */
export type Resealed = { resealed: number; failed: number }

const rowsMax = 100

/** Works in small transactions, each from the end of the last one, so a row that does not open does not block the others. */
export async function resealTable<Row extends Sealed>(
  tenancy: Tenancy,
  sealer: Sealer,
  table: SealedTable<Row>,
): Promise<Resealed> {
  const done: Resealed = { resealed: 0, failed: 0 }
  if (sealer.names.length === 1) return done
  for (let after: Row | undefined = table.start; after; )
    after = await tenancy.asOperator((tx) => resealSome(tx, sealer, table, after as Row, done))
  return done
}

/** How many were sealed with a master key that this process does not have. */
export function countUnreadable(tenancy: Tenancy, sealer: Sealer, table: string): Promise<number> {
  return tenancy.asOperator(async (tx) => {
    const [row] = await tx<{ count: number }[]>`
      select count(*)::int as count from ${tx(table)} where sealed_by <> all(${arrayOf(sealer.names)}::text[])`
    return row?.count ?? 0
  })
}

/**
 * Returns the row to go on from, or undefined at the end. A row that another process replaces meanwhile is sealed
 * anew by that process.
 */
async function resealSome<Row extends Sealed>(
  tx: Tx,
  sealer: Sealer,
  table: SealedTable<Row>,
  after: Row,
  done: Resealed,
): Promise<Row | undefined> {
  const rows = await table.read(tx, after, arrayOf(sealer.names.slice(1)), rowsMax)
  for (const row of rows) {
    const sealed = resealed(sealer, row, table.placeOf(row))
    if (sealed === null) done.failed += 1
    else done.resealed += (await table.write(tx, row, sealed)).count
  }
  return rows.length < rowsMax ? undefined : rows.at(-1)
}

function resealed(sealer: Sealer, row: Sealed, place: readonly string[]): Sealed | null {
  try {
    return sealer.reseal(row, place)
  } catch {
    return null
  }
}

/** Names are hex, so they need no quotes. */
const arrayOf = (names: readonly string[]) => `{${names.join(',')}}`
