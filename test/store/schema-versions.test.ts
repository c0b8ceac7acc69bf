/**
 * Tests a schema change while other processes use the schema, and starts with a newer schema, some of which are
 * refused.
 */
import t, { type Test } from 'tap'
import { backUp } from '../../store/backup/backup-file.ts'
import { servedSchema } from '../../store/migrations/list.ts'
import {
  applyMigrations,
  migrate,
  readSchemaVersion,
  requireSchema,
  schemaVersion,
} from '../../store/migrations/migrate.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import { until } from '../process/machine.ts'
import { defaults, organization, TestCluster } from './cluster.ts'
import { hold } from './held.ts'
import { laterColumns, laterSteps, laterVersion } from './later-steps.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

function connection(t: Test, databaseUrl: string) {
  const sql = connectOnce({ databaseUrl }, 'test')
  t.teardown(() => sql.end({ timeout: 1 }))
  return sql
}

/** Makes a database with the schema of an older version. */
async function olderDatabase(t: Test, older = laterVersion - 1) {
  const url = await cluster.database('empty')
  await connection(t, url).begin((tx) => applyMigrations(tx, older, () => {}, laterSteps))
  return url
}

t.test('the time limit for the statements of requests does not limit a migration', async (t) => {
  const url = await olderDatabase(t)
  const sql = connection(t, url)
  await sql`set statement_timeout = 200`
  const release = await hold(connection(t, url), 'select pg_advisory_xact_lock(7275539001)')
  const migrated = migrate(sql, () => {}, laterSteps)
  await new Promise((resolve) => setTimeout(resolve, 600))
  await release()
  await migrated
  t.equal(await readSchemaVersion(sql, laterVersion), laterVersion)
  t.match(await sql`show statement_timeout`, [{ statement_timeout: '200ms' }], 'for the migration alone')
})

t.test('a migration that waits for a table lock blocks other queries only briefly', async (t) => {
  // The next migration changes the tables `requests` and `calls`.
  const url = await olderDatabase(t, laterColumns.version - 1)
  const said: string[] = []
  // A backup takes the same lock.
  const release = await hold(connection(t, url), 'lock table calls, requests in access share mode')
  const migrated = migrate(connection(t, url), (message) => said.push(message), laterSteps)
  const [reader, watcher] = [connection(t, url), connection(t, url)]
  const waits = async () =>
    (await watcher`select from pg_locks where not granted and relation = 'requests'::regclass`).length > 0
  for (const time of ['the first time', 'again']) {
    await until(`the migration waits ${time}`, waits)
    // The query waits behind the migration. The migration would wait until the release below, unless it gives up.
    await reader`select count(*) from requests`
  }
  await release()
  await migrated
  t.match(said, [/preparing/, /waiting for a transaction that holds the tables/])
  t.equal(await readSchemaVersion(reader, laterVersion), laterVersion)
})

/** Adds a migration from the next version. */
async function nextStep(t: Test, servesFrom: number | null) {
  const url = await cluster.database()
  const sql = connection(t, url)
  await sql`alter table agents add column of_next_version text`
  await sql`
    insert into parley_migrations (version, name, serves_from)
    values (${schemaVersion + 1}, 'a column for agents', ${servesFrom})`
  return url
}

t.test('a server starts and serves with a schema of the next version if it has only additions', async (t) => {
  const url = await nextStep(t, schemaVersion)
  const store = await cluster.store(t, url)
  const acme = await organization(store, 'acme')
  t.match(await store.organizations.list(), [{ id: acme.id }])
  t.equal(await readSchemaVersion(connection(t, url)), schemaVersion + 1, 'the schema is left as it is')
  await cluster.store(t, url, { prepares: false, serves: false })
})

for (const [title, servesFrom] of [
  ['does not only add', null],
  ['is two versions ahead', schemaVersion + 1],
] as const)
  t.test(`a server refuses a schema that ${title}, and names the migration`, async (t) => {
    const url = await nextStep(t, servesFrom)
    await t.rejects(
      cluster.store(t, url),
      new RegExp(
        `schema ${schemaVersion + 1}, this version knows ${schemaVersion}\\), and this version cannot serve over its step ${schemaVersion + 1}, "a column for agents": run the newer version, or restore`,
      ),
    )
  })

t.test('a migration that only adds columns or tables names the oldest version that can serve its schema', async (t) => {
  const sql = connection(t, await cluster.database())
  await migrate(sql, () => {}, laterSteps)
  const rows = await sql<{ version: number; from: number | null }[]>`
    select version, serves_from as from from parley_migrations where version >= ${servedSchema} order by version`
  t.equal(rows[0]?.from, null, 'the schema of the version before')
  t.equal(rows.at(-1)?.version, laterVersion)
  for (const { version, from } of rows.slice(1)) t.equal(from, servedSchema, `${version}`)
})

t.test('a command that does not create the schema refuses an older schema, and names the remedy', async (t) => {
  const sql = connection(t, await olderDatabase(t))
  await t.rejects(requireSchema(sql, laterVersion), {
    message: `The database has schema ${laterVersion - 1}, and this version needs ${laterVersion}: run \`parley migrate\` first.`,
  })
  await migrate(sql, () => {}, laterSteps)
  await requireSchema(sql, laterVersion)
})

for (const version of [1, 47])
  t.test(`a schema ${version} from before the first release is refused, and not changed`, async (t) => {
    const url = await cluster.database('empty')
    const sql = connection(t, url)
    await sql`create table parley_migrations (version integer primary key, name text not null)`
    await sql`insert into parley_migrations (version, name) values (${version}, 'unreleased')`
    const reason = new RegExp(
      `^The database has schema ${version} from before the first release, and this version upgrades from schema 48 on: start with an empty database, or run \`parley migrate\` once with the commit`,
    )
    await t.rejects(cluster.store(t, url), { message: reason })
    await t.rejects(cluster.store(t, url, { prepares: false, serves: false }), { message: reason })
    await t.rejects(backUp({ ...defaults, databaseUrl: url, dataDir: cluster.folder }, `${cluster.folder}/refused`), {
      message: reason,
    })
    t.match(await sql`select tablename from pg_tables where schemaname = 'public'`, [
      { tablename: 'parley_migrations' },
    ])
    t.equal((await sql`select from parley_migrations`).length, 1)
  })
