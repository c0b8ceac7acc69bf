/** The command line with a broken database, a missing database, and an old schema. */
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { runAlone } from '../command.ts'
import { freshDataDir, testKey } from '../installation.ts'
import { freePort } from '../process/machine.ts'
import { TestCluster } from '../store/cluster.ts'
import { refused } from './refused.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())
const folder = freshDataDir()
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

type Options = { dataDir: string; env?: Record<string, string> }
const run = (args: string[], { dataDir, env = {} }: Options) => runAlone(args, { PARLEY_DATA_DIR: dataDir, ...env })

const tables = async (t: Test, databaseUrl: string) =>
  (await cluster.sql(t, databaseUrl)`select 1 from pg_tables where schemaname = 'public'`).length

t.test('if Postgres cannot be used, each command prints the reason', async (t) => {
  const dataDir = path.join(folder, 'unreached')
  const nowhere = `127.0.0.1:${await freePort()}`
  const down = { DATABASE_URL: `postgres://u:hidden@${nowhere}/d`, PARLEY_MASTER_KEY: 'm'.repeat(32), PARLEY_PORT: '0' }
  const message = `parley: The database at ${nowhere} cannot be used: nothing answers there; start Postgres, or correct DATABASE_URL (ECONNREFUSED).\n`
  for (const command of [
    ['up'],
    ['migrate'],
    ['org', 'list'],
    ['keys', 'list', '--org', 'org_x'],
    ['keys', 'reseal'],
  ]) {
    const { code, stdout, stderr } = await run(command, { dataDir, env: down })
    t.same([code, stdout, stderr], [1, '', message], command.join(' '))
  }
  const doctor = await run(['doctor'], { dataDir, env: down })
  t.match(doctor.stdout, /^FAIL {2}store: .*nothing answers there/m)
  const absent = new URL(await cluster.database('empty'))
  absent.pathname = '/nowhere'
  const missing = await run(['org', 'list'], { dataDir, env: { DATABASE_URL: absent.href } })
  refused(t, missing, /the database that DATABASE_URL names does not exist there; create it first \(3D000\)/)
  t.notOk(existsSync(dataDir), 'no folder was made')
})

t.test('commands that only read create no folder and no table', async (t) => {
  const dataDir = path.join(folder, 'read')
  const env = { PARLEY_PORT: String(await freePort()), PARLEY_API_KEY: testKey }
  const doctor = await run(['doctor'], { dataDir, env })
  t.equal(doctor.code, 0)
  t.match(doctor.stdout, /^ok {4}store: an embedded Postgres in \S+read, which `parley up` makes$/m)
  t.notMatch(doctor.stdout, /proxy/)
  const behind = { ...env, PARLEY_PUBLIC_URL: 'https://voice.example.com', PARLEY_MASTER_KEY: 'm'.repeat(32) }
  const proxy = async (more: Record<string, string>) =>
    (await run(['doctor'], { dataDir, env: { ...behind, ...more } })).stdout
  t.match(await proxy({}), /^ok {4}proxy: PARLEY_TRUSTED_PROXIES names none, so all clients behind a proxy share/m)
  t.match(
    await proxy({ PARLEY_TRUSTED_PROXIES: '127.0.0.1/32' }),
    /^ok {4}proxy: X-Forwarded-For of 127\.0\.0\.1\/32 is/m,
  )
  for (const command of [
    ['config', 'check'],
    ['org', 'list'],
    ['keys', 'list', '--org', 'org_x'],
    ['models'],
    ['why', 'req_x'],
    ['preview', '--stage', 'stt'],
    ['drain'],
  ])
    await run(command, { dataDir, env })
  refused(t, await run(['org', 'list'], { dataDir }), /^parley: There is no database in \S+read yet: `parley up` or/)
  t.notOk(existsSync(dataDir), 'no data folder')

  const databaseUrl = await cluster.database('empty')
  const empty = { ...env, DATABASE_URL: databaseUrl }
  refused(
    t,
    await run(['org', 'list'], { dataDir, env: empty }),
    'parley: The database has no tables of Parley: run `parley migrate` first.\n',
  )
  t.match((await run(['doctor'], { dataDir, env: empty })).stdout, /^ok {4}store: .*schema 0: `parley migrate`/m)
  t.equal(await tables(t, databaseUrl), 0, 'no table')
  const migrated = await run(['migrate'], { dataDir, env: empty })
  t.match(migrated.stdout, /^the database has schema \d+, which this version needs$/m)
  t.equal((await run(['org', 'list'], { dataDir, env: empty })).code, 0)
  const sql = cluster.sql(t, databaseUrl)
  await sql`delete from parley_migrations where version > 48`
  await sql`update parley_migrations set version = 47`
  for (const command of [['org', 'list'], ['migrate']])
    refused(
      t,
      await run(command, { dataDir, env: empty }),
      /^parley: The database has schema 47 from before the first release, and this version upgrades from schema 48 on: /m,
    )
  t.match((await run(['doctor'], { dataDir, env: empty })).stdout, /^FAIL {2}store: .*has schema 47 from before/m)
  t.notOk(existsSync(dataDir), 'no data folder')
})

t.test('the command `migrate` creates the embedded database', async (t) => {
  const dataDir = path.join(folder, 'migrated')
  const { code, stdout, stderr } = await run(['migrate', '--json'], { dataDir })
  t.equal(code, 0, stderr)
  t.type((JSON.parse(stdout) as { schema: number }).schema, 'number')
  t.equal((await run(['org', 'list'], { dataDir })).code, 0)
})

t.test('`doctor` reports a database role that bypasses row level security', async (t) => {
  const databaseUrl = await cluster.database()
  const superuser = new URL(databaseUrl)
  superuser.username = 'postgres'
  const doctor = (url: string) => run(['doctor'], { dataDir: folder, env: { DATABASE_URL: url, PARLEY_PORT: '0' } })
  const found = await doctor(superuser.href)
  t.equal(found.code, 1)
  t.match(found.stdout, /^FAIL {2}database role: it is a superuser or bypasses row level security/m)
  t.match(found.stdout, /owns the database and is no superuser/)
  const bound = await doctor(databaseUrl)
  t.equal(bound.code, 0, bound.stdout)
  t.match(bound.stdout, /^ok {4}database role: /m)
  t.match(bound.stdout, /^ok {4}provider: \d+ without a key: .*openai \(OPENAI_API_KEY\)/m, 'one line for all of them')
})
