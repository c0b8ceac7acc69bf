/** Seals secrets again with the current master key, and counts secrets under a master key unknown to this process. */
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import type { Sealed, Sealer } from './sealed.ts'

/** A table with sealed columns. */
export type SealedTable<Row extends Sealed> = {
  table: string
  /** A row that sorts before every stored row. */
  start: Row
  /** Returns the strings that identify the row, because a sealed secret opens only in its row. */
  placeOf(row: Row): readonly string[]
  /**
   * Reads and locks rows after `after`, if a master key in `names` sealed them. `names` is a Postgres array literal.
   */
  read(tx: Tx, after: Row, names: string, rowsMax: number): Promise<Row[]>
  write(tx: Tx, row: Row, sealed: Sealed): Promise<{ count: number }>
}

/**
 * `failed` counts rows with secrets that cannot be decrypted. These rows stay unchanged: another program than Parley
 * has changed them.
 */
export type Resealed = { resealed: number; failed: number }

const rowsMax = 100

/**
 * Seals a table's secrets again, in small transactions. Each transaction continues after the last row of the previous
 * transaction. So if a row cannot be decrypted, the other rows are still sealed again.
 */
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

/** Counts the secrets sealed with a master key unknown to this process. */
export function countUnreadable(tenancy: Tenancy, sealer: Sealer, table: string): Promise<number> {
  return tenancy.asOperator(async (tx) => {
    const [row] = await tx<{ count: number }[]>`
      select count(*)::int as count from ${tx(table)} where sealed_by <> all(${arrayOf(sealer.names)}::text[])`
    return row?.count ?? 0
  })
}

/**
 * Seals some rows again. Returns the row to continue from, or undefined at the end. If another process replaces a row
 * meanwhile, that process has sealed it with the current key.
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

/** Writes names as a Postgres array. Names are hex, so they need no quotes. */
const arrayOf = (names: readonly string[]) => `{${names.join(',')}}`
