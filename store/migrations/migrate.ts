import type { Sql, Tx } from '../connect.ts'
import { migrations } from './list.ts'

/** Any number that nothing else in the database takes as an advisory lock. */
const lock = 7_275_539_001

/** The schema that this version needs. */
export const schemaVersion = migrations.at(-1)?.version ?? 0

/**
 * Brings the schema up to this version in one transaction; if several processes start, one works and the others
 * wait.
 */
export async function migrate(sql: Sql, progress: (message: string) => void): Promise<void> {
  if ((await readSchemaVersion(sql)) === schemaVersion) return
  await sql.begin((tx) => applyMigrations(tx, schemaVersion, progress))
}

/** Up to the schema `wanted`. Changes nothing where the database has it already. */
export async function applyMigrations(tx: Tx, wanted: number, progress: (message: string) => void): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lock})`
  await tx`
    create table if not exists parley_migrations
      (version integer primary key, name text not null, applied_at timestamptz not null default now())`
  // Read again behind the lock: another process may have done it.
  const applied = await tx<{ version: number }[]>`select coalesce(max(version), 0) as version from parley_migrations`
  const pending = migrations.filter(({ version }) => version > (applied[0]?.version ?? 0) && version <= wanted)
  if (pending.length > 0) progress(`preparing the schema (${pending.length} migrations)`)
  for (const { version, name, sql: text } of pending) {
    await tx.unsafe(text)
    await tx`insert into parley_migrations (version, name) values (${version}, ${name})`
  }
}

/** Throws when the schema is not the one of this version. Changes nothing. */
export async function requireSchema(sql: Sql): Promise<void> {
  const version = await readSchemaVersion(sql)
  if (version === schemaVersion) return
  const found =
    version === 0 ? 'has no tables of Parley' : `has schema ${version}, and this version needs ${schemaVersion}`
  throw new Error(`The database ${found}: run \`parley migrate\` first.`)
}

/** 0 in a database without our tables. Throws when a newer version has made the schema. */
export async function readSchemaVersion(sql: Sql): Promise<number> {
  const [table] = await sql<{ exists: boolean }[]>`select to_regclass('parley_migrations') is not null as exists`
  if (!table?.exists) return 0
  const [row] = await sql<{ version: number }[]>`select coalesce(max(version), 0) as version from parley_migrations`
  const version = row?.version ?? 0
  if (version <= schemaVersion) return version
  throw new Error(
    `The database was made by a newer Parley (schema ${version}, this version knows ${schemaVersion}): run that version, or restore a backup.`,
  )
}
