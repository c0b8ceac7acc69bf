/**
 * Schemas of earlier versions with a row in every table: each row is there after the migration, with all its values.
 */
import type postgres from 'postgres'
import t, { type Test } from 'tap'
import { migrations } from '../../store/migrations/list.ts'
import { applyMigrations, migrate, readSchemaVersion, schemaVersion } from '../../store/migrations/migrate.ts'
import { TestCluster } from './cluster.ts'
import { laterSteps, laterVersion } from './later-steps.ts'
import { spawned } from './spawned.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

type Column = { name: string; type: string; isRequired: boolean }
type Reference = { columns: string[]; target: string; targets: string[] }
type Table = { name: string; columns: Column[]; references: Reference[] }

/** Values for columns with a fixed set of values. */
const chosen: Record<string, unknown> = {
  'attempts.key_source': 'platform',
  'api_keys.digest': Buffer.alloc(32, 1),
  'business_verifications.status': 'approved',
  'identities.kind': 'passkey',
  'invitations.digest': Buffer.alloc(32, 3),
  'invitations.invited_by_type': 'operator',
  'key_budget_events.event': 'warned',
  'password_resets.digest': Buffer.alloc(32, 4),
  'rmsg_messages.status': 'sent',
  'rmsg_numbers.status': 'active',
  'rmsg_numbers.sms_status': 'ready',
  'user_roles.role': 'member',
  'webhook_endpoints.signing_secret_source': 'workspace',
  'webhook_deliveries.status': 'pending',
  'webhook_attempts.trigger': 'automatic',
  'user_credentials.digest': Buffer.alloc(32, 2),
}

/** Makes a database with the migrations up to `version`. */
async function databaseOf(t: Test, version: number) {
  const url = await cluster.database('empty')
  const sql = cluster.sql(t, url)
  await sql.begin((tx) => applyMigrations(tx, version, () => {}, laterSteps))
  return sql
}

async function tablesOf(sql: postgres.Sql): Promise<Table[]> {
  const columns = await sql<(Column & { table: string })[]>`
    select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type,
      a.attnotnull and a.attidentity = '' and not a.atthasdef as "isRequired"
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped and c.relname <> 'parley_migrations'
    order by c.relname, a.attnum`
  const references = await sql<(Reference & { table: string })[]>`
    select c.relname as table, f.relname as target,
      array(select attname::text from unnest(k.conkey) with ordinality u(n, i) join pg_attribute on attrelid = k.conrelid and attnum = u.n order by i) as columns,
      array(select attname::text from unnest(k.confkey) with ordinality u(n, i) join pg_attribute on attrelid = k.confrelid and attnum = u.n order by i) as targets
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class f on f.oid = k.confrelid
    where k.contype = 'f' and k.conparentid = 0`
  const names = [...new Set(columns.map(({ table }) => table))]
  return names.map((name) => ({
    name,
    columns: columns.filter(({ table }) => table === name),
    references: references.filter(({ table, target }) => table === name && target !== name),
  }))
}

/** Sorts tables so that a referenced table comes before the tables that refer to it. */
function inOrder(tables: readonly Table[]): Table[] {
  const done = new Set<string>()
  const ordered: Table[] = []
  while (ordered.length < tables.length) {
    const next = tables.find(
      ({ name, references }) => !done.has(name) && references.every(({ target }) => done.has(target)),
    )
    if (next === undefined) throw new Error('tables refer to one another in a circle')
    done.add(next.name)
    ordered.push(next)
  }
  return ordered
}

type Row = Record<string, unknown>

async function insertEverywhere(sql: postgres.Sql): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>()
  for (const table of inOrder(await tablesOf(sql))) rows.set(table.name, await insert(sql, table, rows))
  return rows
}

/** Upgrades begin at the two newest schemas, and between the tests' later migrations. */
const olderSteps = laterSteps.slice(0, -1).slice(-4)

for (const { version } of olderSteps)
  t.test(`a schema of version ${version} with data is upgraded to ${laterVersion}`, async (t) => {
    const sql = await databaseOf(t, version)
    const before = await insertEverywhere(sql)
    t.ok(before.size > 40, 'every table of then has a row')
    await migrate(sql, () => {}, laterSteps)
    t.equal(await readSchemaVersion(sql, laterVersion), laterVersion)
    for (const [name, row] of before) {
      const rows = await sql<Row[]>`select * from ${sql(name)}`
      t.match(rows, [row], name)
      t.equal(rows.length, 1, `${name}: no row more`)
    }
  })

t.test('migrations run once and in order', async (t) => {
  await t.test('two simultaneous starts create one schema, and a later start changes nothing', async (t) => {
    const url = await cluster.database('empty')
    const both = await Promise.all([
      spawned([cluster.folder, url, 'close'], 'closed'),
      spawned([cluster.folder, url, 'close'], 'closed'),
    ])
    await Promise.all(both.map(({ ended }) => ended))
    await cluster.store(t, url)
    const rows = await cluster.sql(t, url)<
      { version: number }[]
    >`select version from parley_migrations order by version`
    t.same(
      rows.map(({ version }) => version),
      migrations.map(({ version }) => version),
    )
  })

  await t.test('migration numbers rise from the baseline without gaps', (t) => {
    t.same(
      migrations.map(({ version }) => version),
      migrations.map((_, index) => 48 + index),
    )
    t.end()
  })

  await t.test('a schema of a newer version is refused, and the error names its version', async (t) => {
    const url = await cluster.database()
    await cluster.sql(t, url)`insert into parley_migrations (version, name) values (900, 'later')`
    await t.rejects(cluster.store(t, url), /made by a newer Parley \(schema 900, this version knows \d+\)/)
  })
})

t.test('a new schema is created in one step, and a second run changes nothing', async (t) => {
  const [sql, later] = [await databaseOf(t, 0), await databaseOf(t, 0)]
  const said: string[] = []
  await migrate(sql, (message) => said.push(message))
  await migrate(sql, (message) => said.push(message))
  t.equal(await readSchemaVersion(sql), schemaVersion)
  t.match(said, [/^preparing the schema \(\d+ migrations?\)$/])
  t.equal(said.length, 1)
  await migrate(later, (message) => said.push(message), laterSteps)
  t.same(said.slice(1), [`preparing the schema (${laterSteps.length} migrations)`], 'no index is built by itself')
})

async function insert(sql: postgres.Sql, { name, columns, references }: Table, rows: Map<string, Row>): Promise<Row> {
  const row: Row = {}
  for (const { name: column, type, isRequired } of columns) {
    const given = chosen[`${name}.${column}`]
    if (given !== undefined) row[column] = given
    else if (isRequired) row[column] = valueOf(type)
  }
  for (const { columns: own, target, targets } of references)
    own.forEach((column, at) => {
      if (column in row) row[column] = rows.get(target)?.[targets[at] ?? '']
    })
  const [stored] = await sql<[Row]>`insert into ${sql(name)} ${sql(row as Record<string, string>)} returning *`
  return stored
}

function valueOf(type: string): unknown {
  if (type === 'uuid') return '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70'
  if (type === 'boolean') return false
  if (type === 'bytea') return Buffer.from('bytes')
  if (type.startsWith('timestamp')) return new Date('2026-11-01T12:00:00.000Z')
  if (type === 'date') return '2026-11-01'
  if (/int|numeric|double|real/.test(type)) return 1
  if (type.startsWith('json')) return {}
  if (type.endsWith('[]')) return []
  return 'text'
}
