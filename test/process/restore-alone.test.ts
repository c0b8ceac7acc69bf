/**
 * Runs a restore beside servers and commands on the same database. The later command waits for the earlier command, or
 * is refused.
 */
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { locks } from '../../store/postgres/advisory-locks.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import { refused } from '../cli/refused.ts'
import { freshDataDir } from '../installation.ts'
import { send } from '../router/requests.ts'
import { TestCluster } from '../store/cluster.ts'
import { runParley } from './command.ts'
import { until } from './machine.ts'
import { startParley } from './parley.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())
const folder = freshDataDir()
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const file = path.join(folder, 'parley.backup')
const masterKey = { PARLEY_MASTER_KEY: 'm'.repeat(32) }
const command = (databaseUrl: string, ...args: string[]) =>
  runParley(args, { dataDir: path.join(folder, 'unused'), env: { DATABASE_URL: databaseUrl, ...masterKey } })
const serve = (databaseUrl: string) => startParley({ DATABASE_URL: databaseUrl, ...masterKey })

t.before(async () => {
  const databaseUrl = await cluster.database('empty')
  const parley = await serve(databaseUrl)
  for (const args of [
    ['org', 'create', 'Acme'],
    ['backup', file],
  ]) {
    const { code, stderr } = await command(databaseUrl, ...args)
    t.equal(code, 0, stderr)
  }
  await parley.remove()
})

const inUse =
  /^parley: another process of Parley uses the database \(connected as parley-\S+\): stop the servers and commands on it/

t.test('a restore is refused while another process is connected to the database', async (t) => {
  const databaseUrl = await cluster.database()
  const other = connectOnce({ databaseUrl }, 'parley-other')
  await other`select 1`
  refused(t, await command(databaseUrl, 'restore', file), /database \(connected as parley-other\): stop the servers/)
  await other.end()
  const elsewhere = connectOnce({ databaseUrl: await cluster.database() }, 'parley-other')
  await elsewhere`select 1`
  t.teardown(() => elsewhere.end())
  const { code, stderr } = await command(databaseUrl, 'restore', file)
  t.equal(code, 0, stderr)
})

t.test('a server that starts during a restore waits for it, and commands are refused meanwhile', async (t) => {
  const databaseUrl = await cluster.database('empty')
  const sql = cluster.sql(t, databaseUrl)
  await sql`select pg_advisory_lock(${locks.upgrade})`
  const restored = command(databaseUrl, 'restore', file)
  await until('the restore waits', async () => {
    const waiting = await sql`select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`
    return waiting.length > 0
  })
  refused(t, await command(databaseUrl, 'restore', file), inUse)
  const meanwhile = path.join(folder, 'meanwhile.backup')
  for (const args of [
    ['org', 'create', 'Other'],
    ['backup', meanwhile],
  ])
    refused(t, await command(databaseUrl, ...args), /A backup is being restored into the database/)
  t.notOk(existsSync(meanwhile))
  // After a refused command, its database connection may stay visible a moment longer.
  const [begun] = await sql<{ at: string }[]>`select clock_timestamp()::text as at`
  const starting = serve(databaseUrl)
  await until('the server waits', async () => {
    const rows = await sql`select from pg_stat_activity where datname = current_database() and query like '%shared%'
      and application_name like 'parley-%' and backend_start > ${begun?.at ?? ''}::timestamptz`
    return rows.length > 0
  })
  await sql`select pg_advisory_unlock(${locks.upgrade})`
  const parley = await starting
  t.teardown(() => parley.remove())
  t.match(parley.output(), 'waiting for another process that restores a backup into the database')
  t.equal((await restored).code, 0, (await restored).stderr)
  t.equal((await send(parley, '/router/v1/models')).status, 200, 'its key is one of the backup')
  t.match((await command(databaseUrl, 'org', 'list')).stdout, /^org_\S+ {2}local.*\norg_\S+ {2}Acme/)
})

t.test('a restore is refused while a server that started first prepares the schema', async (t) => {
  const databaseUrl = await cluster.database('empty')
  const sql = cluster.sql(t, databaseUrl)
  await sql`select pg_advisory_lock(${locks.upgrade})`
  const starting = serve(databaseUrl)
  await until('the server waits', async () => {
    const rows = await sql`select from pg_stat_activity where datname = current_database()
      and application_name like 'parley-%' and query like '%pg_try_advisory_lock(%'`
    return rows.length > 0
  })
  refused(t, await command(databaseUrl, 'restore', file), inUse)
  await sql`select pg_advisory_unlock(${locks.upgrade})`
  const parley = await starting
  t.teardown(() => parley.remove())
  t.equal((await command(databaseUrl, 'org', 'list')).stdout.trim().split('\n').length, 1, 'nothing of the backup')
})

// The machine decides whether the restore or the server begins first. The two tests above test each order.
t.test('a restore and a server that start at once never run at the same time', async (t) => {
  const outcomes: number[] = []
  for (let round = 0; round < 2; round += 1) {
    const databaseUrl = await cluster.database('empty')
    const starting = serve(databaseUrl)
    await new Promise((resolve) => setTimeout(resolve, round * 600))
    const restored = await command(databaseUrl, 'restore', file)
    const parley = await starting
    const organizations = (await command(databaseUrl, 'org', 'list')).stdout.trim().split('\n')
    outcomes.push(organizations.length)
    if (restored.code === 0) t.equal(organizations.length, 2, 'all of the backup, and nothing else')
    else {
      t.match(restored.stderr, /another process of Parley uses the database|the database is in use already/)
      t.equal(organizations.length, 1, 'nothing of the backup')
    }
    t.equal((await send(parley, '/router/v1/models')).status, 200)
    await parley.remove()
  }
  t.comment(`organizations afterwards: ${outcomes.join(', ')}`)
})
