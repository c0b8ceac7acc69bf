import { locks } from '../postgres/advisory-locks.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import { migrations, servedSchema } from './list.ts'
import type { Index, Migration } from './migration.ts'
import { type Connection, withUpgradeLock } from './upgrade-lock.ts'

const newestOf = (steps: readonly Migration[]) => steps.at(-1)?.version ?? 0

/** The schema that this version needs. */
export const schemaVersion = newestOf(migrations)

/** The schema made by the first step. Every release has at least this schema. */
const baselineVersion = migrations[0]?.version ?? 0

/** Returns true for a schema from a build before the first release. Such a schema cannot be upgraded. */
export const isUnreleased = (version: number) => version > 0 && version < baselineVersion

/**
 * A step waits this long for a table lock. While it waits, all other statements on the table wait behind it. So it
 * gives up soon and begins again after a pause, in which requests are served.
 */
const lockMsMax = 2_000
const pauseMs = 1_000
const triesMax = 30

/**
 * Brings the schema up to this version, each step in a separate transaction, while the previous version serves. If a
 * step fails, the earlier steps stay, and the next start goes on from there. If several processes start, one process
 * migrates and the other processes wait. If the schema is from a newer version, it stays as it is. Tests pass a later
 * version's `steps`.
 */
export async function migrate(sql: Sql, progress: (message: string) => void, steps = migrations): Promise<void> {
  const newest = newestOf(steps)
  if ((await readSchemaVersion(sql, newest)) >= newest) return
  await withUpgradeLock(sql, progress, async (connection) => {
    // Reads the version again under the lock, because another process may have finished the work.
    const pending = await repeated(progress, () =>
      inTransaction(connection, () => listPending(connection, steps, newest)),
    )
    if (pending.length > 0) progress(sayPending(pending))
    // A database without our tables has no users, so all steps run in one transaction, which takes half the time.
    if (pending.length === steps.length) await inTransaction(connection, () => applyAll(connection, pending))
    else for (const migration of pending) await takeStep(connection, migration, progress)
  })
}

async function takeStep(connection: Connection, migration: Migration, progress: (message: string) => void) {
  for (const index of migration.indexes ?? []) await build(connection, index, progress)
  await repeated(progress, () => inTransaction(connection, () => apply(connection, migration)))
}

/**
 * Builds an index. This waits for the table's open transactions, such as a backup, but does not keep other transactions
 * waiting. An interrupted build leaves an invalid index, which is dropped first.
 */
async function build(connection: Connection, { name, table, of }: Index, progress: (message: string) => void) {
  const [found] = await connection<{ valid: boolean }[]>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`
  if (found?.valid) return
  progress(`building the index ${name} of the table ${table}, which can be used meanwhile`)
  if (found) await connection.unsafe(`drop index concurrently ${name}`)
  await connection.unsafe(`create index concurrently ${name} on ${table} ${of}`)
}

async function inTransaction<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  await connection`begin`
  try {
    await connection`select set_config('lock_timeout', ${String(lockMsMax)}, true)`
    const result = await work()
    await connection`commit`
    return result
  } catch (error) {
    await connection`rollback`.catch(() => {}) // A lost connection rolls back by itself.
    throw error
  }
}

/** Runs `work` again if it gave up waiting for a table. */
async function repeated<T>(progress: (message: string) => void, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (cause) {
      if (!isLocked(cause)) throw cause
      if (tries === triesMax)
        throw new Error(
          'The schema cannot be changed because another transaction holds its tables, such as a backup: run `parley migrate` when that is over.',
          { cause },
        )
      if (tries === 1) progress('waiting for a transaction that holds the tables, such as a backup')
      // Waits by the machine's clock, because another process holds the transaction.
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

/** True for the SQLSTATE lock_not_available. */
const isLocked = (error: unknown) => (error as { code?: string }).code === '55P03'

/** Brings the schema to `upTo` in the calling code's transaction. No other process may use the database yet. */
export async function applyMigrations(
  tx: Tx,
  upTo: number,
  progress: (message: string) => void,
  steps = migrations,
): Promise<void> {
  await tx`select pg_advisory_xact_lock(${locks.upgrade})`
  const pending = await listPending(tx, steps, upTo)
  if (pending.length > 0) progress(sayPending(pending))
  await applyAll(tx, pending)
}

async function applyAll(sql: Sql | Tx, pending: readonly Migration[]): Promise<void> {
  for (const migration of pending) {
    for (const { name, table, of } of migration.indexes ?? [])
      await sql.unsafe(`create index ${name} on ${table} ${of}`)
    await apply(sql, migration)
  }
}

const sayPending = ({ length }: readonly Migration[]) =>
  `preparing the schema (${length} ${length === 1 ? 'migration' : 'migrations'})`

/** Lists the steps not yet taken. Makes the table of steps if it is missing. */
async function listPending(sql: Sql | Tx, steps: readonly Migration[], upTo: number): Promise<Migration[]> {
  await sql`
    create table if not exists parley_migrations
      (version integer primary key, name text not null, applied_at timestamptz not null default now())`
  const [applied] = await sql<{ version: number }[]>`select coalesce(max(version), 0) as version from parley_migrations`
  const pending = steps.filter(({ version }) => version > (applied?.version ?? 0) && version <= upTo)
  if (pending.length > 0) await sql`alter table parley_migrations add column if not exists serves_from integer`
  return pending
}

/**
 * Applies one step. A server made for an older schema may go on serving if that schema's version is at least
 * `serves_from`. Null: no older version may serve.
 */
async function apply(sql: Sql | Tx, migration: Migration): Promise<void> {
  const { version, name, breaks } = migration
  if (migration.sql !== undefined) await sql.unsafe(migration.sql)
  const servesFrom = breaks === undefined && version > servedSchema ? servedSchema : null
  await sql`insert into parley_migrations (version, name, serves_from) values (${version}, ${name}, ${servesFrom})`
}

/** Throws unless this server version can work with the database's schema. Changes nothing. */
export async function requireSchema(sql: Sql, needed = schemaVersion): Promise<void> {
  const version = await readSchemaVersion(sql, needed)
  if (version >= needed) return
  const found = version === 0 ? 'has no tables of Parley' : `has schema ${version}, and this version needs ${needed}`
  throw new Error(`The database ${found}: run \`parley migrate\` first.`)
}

/**
 * Reads the schema's version: 0 if the database has no tables made by Parley. Throws if a newer version has applied a
 * step incompatible with this version, or if the schema is from before the first release.
 */
export async function readSchemaVersion(sql: Sql, known = schemaVersion): Promise<number> {
  const [table] = await sql<{ exists: boolean }[]>`select to_regclass('parley_migrations') is not null as exists`
  if (!table?.exists) return 0
  const [row] = await sql<{ version: number }[]>`select coalesce(max(version), 0) as version from parley_migrations`
  const version = row?.version ?? 0
  if (isUnreleased(version))
    throw new Error(
      `The database has schema ${version} from before the first release, and this version upgrades from schema ${baselineVersion} on: start with an empty database, or run \`parley migrate\` once with the commit that CHANGELOG.md names.`,
    )
  if (version <= known) return version
  const hindering = await sql<{ version: number; name: string }[]>`
    select version, name from parley_migrations m
    where version > ${known} and coalesce((to_jsonb(m)->>'serves_from')::integer > ${known}, true)
    order by version limit 1`
  const [first] = hindering
  if (first === undefined) return version
  throw new Error(
    `The database was made by a newer Parley (schema ${version}, this version knows ${known}), and this version cannot serve over its step ${first.version}, "${first.name}": run the newer version, or restore the backup of before the upgrade into an empty database.`,
  )
}
