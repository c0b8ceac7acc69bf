import type { Sql, Tx } from '../connect.ts'
import { migrations, servedSchema } from './list.ts'
import type { Migration } from './migration.ts'

/** Any number that nothing else in the database takes as an advisory lock. */
const lock = 7_275_539_001

/** The schema that this version needs. */
export const schemaVersion = migrations.at(-1)?.version ?? 0

/** The longest that one statement of a migration may take, or that a process may wait for the migration of another one. */
const statementMsMax = 4 * 3_600_000
/**
 * A statement that waits for a table lets nobody else have it, so it gives up soon. The migration then begins again from
 * the beginning after a pause, in which requests are served.
 */
const lockMsMax = 2_000
const pauseMs = 1_000
const triesMax = 30

/**
 * Brings the schema up to this version in one transaction; if several processes start, one works and the others
 * wait. A schema of the next version stays as it is.
 */
export async function migrate(sql: Sql, progress: (message: string) => void): Promise<void> {
  if ((await readSchemaVersion(sql)) >= schemaVersion) return
  for (let tries = 1; ; tries += 1) {
    try {
      await sql.begin(async (tx) => {
        await tx`select set_config('statement_timeout', ${String(statementMsMax)}, true)`
        await applyMigrations(tx, schemaVersion, progress)
      })
      return
    } catch (cause) {
      if (!isLocked(cause)) throw cause
      if (tries === triesMax)
        throw new Error(
          'The schema cannot be changed because another transaction holds its tables, such as a backup: run `parley migrate` when that is over.',
          { cause },
        )
      if (tries === 1) progress('waiting for a transaction that holds the tables, such as a backup')
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

/** SQLSTATE lock_not_available. */
const isLocked = (error: unknown) => (error as { code?: string }).code === '55P03'

/** Up to the schema `wanted`. Changes nothing where the database has it already. */
export async function applyMigrations(tx: Tx, wanted: number, progress: (message: string) => void): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lock})`
  await tx`
    create table if not exists parley_migrations
      (version integer primary key, name text not null, applied_at timestamptz not null default now())`
  // Read again behind the lock: another process may have done it.
  const applied = await tx<{ version: number }[]>`select coalesce(max(version), 0) as version from parley_migrations`
  const pending = migrations.filter(({ version }) => version > (applied[0]?.version ?? 0) && version <= wanted)
  if (pending.length === 0) return
  progress(`preparing the schema (${pending.length} migrations)`)
  await tx`select set_config('lock_timeout', ${String(lockMsMax)}, true)`
  await tx`alter table parley_migrations add column if not exists serves_from integer`
  for (const migration of pending) await apply(tx, migration)
  await tx`select set_config('lock_timeout', '0', true)`
}

/** `serves_from` tells older versions whether they may serve: from that schema on. Null: none of them may. */
async function apply(tx: Tx, { version, name, sql, breaks }: Migration): Promise<void> {
  await tx.unsafe(sql)
  const servesFrom = breaks === undefined && version > servedSchema ? servedSchema : null
  await tx`insert into parley_migrations (version, name, serves_from) values (${version}, ${name}, ${servesFrom})`
}

/** Throws when the schema is neither that of this version nor one of the next version that this one can serve over. Changes nothing. */
export async function requireSchema(sql: Sql): Promise<void> {
  const version = await readSchemaVersion(sql)
  if (version >= schemaVersion) return
  const found =
    version === 0 ? 'has no tables of Parley' : `has schema ${version}, and this version needs ${schemaVersion}`
  throw new Error(`The database ${found}: run \`parley migrate\` first.`)
}

/**
 * 0 in a database without our tables. Throws when a newer version has made the schema and this one cannot serve over it:
 * each step that it does not know must say that it can.
 */
export async function readSchemaVersion(sql: Sql): Promise<number> {
  const [table] = await sql<{ exists: boolean }[]>`select to_regclass('parley_migrations') is not null as exists`
  if (!table?.exists) return 0
  const [row] = await sql<{ version: number }[]>`select coalesce(max(version), 0) as version from parley_migrations`
  const version = row?.version ?? 0
  if (version <= schemaVersion) return version
  const hindering = await sql<{ version: number; name: string }[]>`
    select version, name from parley_migrations m
    where version > ${schemaVersion} and coalesce((to_jsonb(m)->>'serves_from')::integer > ${schemaVersion}, true)
    order by version limit 1`
  const [first] = hindering
  if (first === undefined) return version
  throw new Error(
    `The database was made by a newer Parley (schema ${version}, this version knows ${schemaVersion}), and this version cannot serve over its step ${first.version}, "${first.name}": run the newer version, or restore the backup of before the upgrade into an empty database.`,
  )
}
