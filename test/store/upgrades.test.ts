/** The schema is upgraded step by step, while the previous version serves, and after a failed step. */
import t, { type Test } from 'tap'
import { servedSchema } from '../../store/migrations/list.ts'
import { applyMigrations, migrate, readSchemaVersion } from '../../store/migrations/migrate.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import { TestCluster } from './cluster.ts'
import { hold } from './held.ts'
import { laterIndexes, laterSteps, laterTable, laterVersion } from './later-steps.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const silent = () => {}

/** Makes a database with an older version's schema. Returns it with a function to open connections to it. */
async function databaseOf(t: Test, version: number) {
  const databaseUrl = await cluster.database('empty')
  const open = () => {
    const sql = connectOnce({ databaseUrl }, 'test')
    t.teardown(() => sql.end({ timeout: 1 }))
    return sql
  }
  await open().begin((tx) => applyMigrations(tx, version, silent, laterSteps))
  return { open, superuser: cluster.sql(t, databaseUrl) }
}

type Sql = ReturnType<typeof connectOnce>

/** Upgrades the schema to the version after all migrations in `laterSteps`. */
const upgrade = (sql: Sql, progress: (message: string) => void = silent) => migrate(sql, progress, laterSteps)
const versionOf = (sql: Sql) => readSchemaVersion(sql, laterVersion)

const indexes = (sql: Sql) => sql<{ name: string; valid: boolean }[]>`
  select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
  where i.indrelid = 'calls'::regclass`

/** Resolves when a statement with this beginning waits for another transaction's lock. */
async function waits(sql: Sql, statement: string): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const [row] = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike ${`${statement}%`}`
    if (row !== undefined) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nothing waits in "${statement}"`)
}

t.test('calls can be written while an upgrade builds the indexes of their table', async (t) => {
  const { open, superuser } = await databaseOf(t, laterIndexes.version - 1)
  // This lock is like that of a transaction by the old version, which still serves.
  const release = await hold(open(), 'lock table calls in row exclusive mode')
  const said: string[] = []
  const migrated = upgrade(open(), (message) => said.push(message))
  await waits(superuser, 'create index concurrently')
  await open()`update calls set ended_at = ended_at`
  await release()
  await migrated
  t.equal(await versionOf(superuser), laterVersion)
  t.match(said, [/^preparing the schema \(\d+ migrations\)$/, /building the index calls_later of the table calls/])
  t.strictSame(
    (await indexes(superuser)).filter(({ valid }) => !valid),
    [],
  )
})

t.test('migrations before a failed migration stay, and the next start continues after them', async (t) => {
  const { open, superuser } = await databaseOf(t, servedSchema)
  await open()`create table later_notes ()`
  await t.rejects(upgrade(open()), /relation "later_notes" already exists/)
  t.equal(await versionOf(superuser), laterTable.version - 1)
  await open()`drop table later_notes`
  const sql = open()
  await sql`set statement_timeout = 2000`
  await upgrade(sql)
  t.equal(await versionOf(superuser), laterVersion)
  t.match(await sql`show statement_timeout`, [{ statement_timeout: '2s' }], 'the connection is as it was')
})

t.test('processes that start at once run each migration once', async (t) => {
  const { open, superuser } = await databaseOf(t, servedSchema)
  const said: string[] = []
  await Promise.all([1, 2, 3, 4].map(() => upgrade(open(), (message) => said.push(message))))
  const [rows] = await superuser<[{ steps: number }]>`select count(*)::int as steps from parley_migrations`
  t.equal(rows.steps, laterSteps.length)
  t.equal(said.filter((message) => message.startsWith('preparing')).length, 1, 'one of them works')
})

t.test('an index whose creation has failed is created again', async (t) => {
  const { open, superuser } = await databaseOf(t, laterIndexes.version - 1)
  await open()`create index calls_later on calls (ended_at)`
  await superuser`update pg_index set indisvalid = false where indexrelid = 'calls_later'::regclass`
  await upgrade(open())
  const built = new Map((await indexes(superuser)).map(({ name, valid }) => [name, valid]))
  for (const { name } of laterIndexes.indexes) t.ok(built.get(name), name)
})
