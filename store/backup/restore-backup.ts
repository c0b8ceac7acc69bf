/** Reads a backup into a database that has no organization yet: all of it, or nothing. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { applyMigrations, isUnreleased, migrate, readSchemaVersion, schemaVersion } from '../migrations/migrate.ts'
import type { Migration } from '../migrations/migration.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import { longWorkMsMax } from '../postgres/long-work.ts'
import { everyOrganization } from '../postgres/tenant.ts'
import { type BackupCounts, BackupError, type BackupHeader, BackupReader } from './format.ts'
import { type Interruption, requireUninterrupted } from './interruption.ts'
import { type TableShape, tablesOf } from './tables.ts'

type Backup = { header: BackupHeader; reader: BackupReader }

/**
 * Reads the backup's header. Throws BackupError if the input is not a backup, or if this version does not support its
 * schema.
 */
export async function openBackup(input: AsyncIterable<Buffer>): Promise<Backup> {
  const reader = new BackupReader(input)
  const header = await reader.header()
  if (header.schema > schemaVersion)
    throw new BackupError(
      `the backup has schema ${header.schema}, and this version of Parley knows ${schemaVersion}: take the version that wrote it, or a newer one`,
    )
  if (isUnreleased(header.schema))
    throw new BackupError(
      `the backup has schema ${header.schema} from before the first release: restore it with the commit that CHANGELOG.md names, and make a new one`,
    )
  return { header, reader }
}

/**
 * Writes the backup's rows. If the backup is from an older version, the rows go into that version's schema, and the
 * later migrations run afterwards. Throws BackupError if the file does not fit. Tests pass a later version's `steps`.
 */
export async function restoreBackup(
  sql: Sql,
  { header, reader }: Backup,
  progress: (message: string) => void,
  interruption: Interruption,
  steps?: readonly Migration[],
): Promise<BackupHeader & BackupCounts> {
  await checkTarget(sql, header.schema)
  const counts = await sql.begin(async (tx) => {
    await tx`select set_config('app.organization', ${everyOrganization}, true), set_config('app.world', '*', true),
      set_config('statement_timeout', ${String(longWorkMsMax)}, true),
      set_config('idle_in_transaction_session_timeout', ${String(longWorkMsMax)}, true)`
    await applyMigrations(tx, header.schema, progress, steps)
    const counts = await readTables(tx, reader)
    await letGoOfLegs(tx, header.createdAt)
    await requireUninterrupted(interruption)
    // The commit follows. If the command is interrupted now, it cannot know if the commit succeeded, and the message
    // says so.
    interruption.message =
      'the command was interrupted at its end: `parley org list` shows whether the backup is restored'
    return counts
  })
  await migrate(sql, progress, steps)
  return { ...header, ...counts }
}

/**
 * Marks the open legs in the backup as ended. Otherwise a server on the restored database would consider the legs
 * orphaned and hang up, although the original installation may still serve these calls.
 */
async function letGoOfLegs(tx: Tx, createdAt: string): Promise<void> {
  await tx`update call_legs set ended_at = greatest(created_at, ${new Date(createdAt)}) where ended_at is null`
}

async function checkTarget(sql: Sql, schema: number): Promise<void> {
  const currentSchema = await readSchemaVersion(sql)
  const isOther = currentSchema !== 0 && currentSchema !== schema
  if (isOther || (currentSchema !== 0 && (await isOccupied(sql))))
    throw new BackupError(
      'the database is in use already: a backup is restored into an empty one. PARLEY_DATA_DIR names another folder, DATABASE_URL another database.',
    )
}

function isOccupied(sql: Sql): Promise<boolean> {
  return sql.begin(async (tx) => {
    await tx`select set_config('app.organization', ${everyOrganization}, true)`
    const [row] = await tx<{ occupied: boolean }[]>`select exists (select from organizations) as occupied`
    return row?.occupied === true
  })
}

async function readTables(tx: Tx, reader: BackupReader): Promise<BackupCounts> {
  const expectedTables = new Map((await tablesOf(tx)).map((table) => [table.name, table]))
  const counts = { tables: 0, rows: 0 }
  for (;;) {
    const section = await reader.section()
    if (section.kind === 'end') {
      const isWhole = section.counts.tables === counts.tables && section.counts.rows === counts.rows
      if (isWhole && expectedTables.size === 0) return counts
      throw new BackupError('the backup is not whole: tables or rows are missing')
    }
    const { table } = section
    if (!isSame(expectedTables.get(table.name), table))
      throw new BackupError(`the table ${table.name} of the backup is not one of its schema`)
    expectedTables.delete(table.name)
    counts.tables += 1
    counts.rows += await readTable(tx, table, reader.rows())
  }
}

const isSame = (expected: TableShape | undefined, table: TableShape) =>
  expected !== undefined &&
  JSON.stringify(expected.columns) === JSON.stringify(table.columns) &&
  Object.keys(table.counters).every((column) => expected.columns.includes(column))

async function readTable(
  tx: Tx,
  { name, columns, counters }: TableShape,
  lines: AsyncIterable<Buffer>,
): Promise<number> {
  const table = tx(name)
  // COPY cannot write into a table with forced row level security.
  const [before] = await tx<{ forced: boolean }[]>`
    select relforcerowsecurity as forced from pg_class where oid = ${name}::regclass`
  if (before?.forced) await tx`alter table ${table} no force row level security`
  const writing = await tx`copy ${table} (${tx(columns)}) from stdin`.writable()
  await pipeline(Readable.from(lines), writing).catch((cause: unknown) => {
    throw isOfRows(cause)
      ? new BackupError(`the backup was changed: rows of its table ${name} do not fit`, { cause })
      : cause
  })
  if (before?.forced) await tx`alter table ${table} force row level security`
  for (const [column, last] of Object.entries(counters))
    await tx`select setval(pg_get_serial_sequence(${name}, ${column}), ${last}::bigint)`
  const [after] = await tx<{ rows: number }[]>`select count(*) as rows from ${table}`
  return after?.rows ?? 0
}

/**
 * Tells an error in the backup's rows from other errors: SQLSTATE class 22 is data exception, 23 is integrity
 * constraint violation.
 */
const isOfRows = (error: unknown) => /^2[23]/.test((error as { code?: string }).code ?? '')
