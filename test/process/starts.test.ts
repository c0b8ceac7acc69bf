/** Tests server starts as they happen in containers, and two starts at once. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { refused } from '../cli/refused.ts'
import { freshDataDir, testKey } from '../installation.ts'
import { send } from '../router/requests.ts'
import { TestCluster } from '../store/cluster.ts'
import { runParley } from './command.ts'
import { type Running, startParley } from './parley.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())
const folder = freshDataDir()
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

async function started(t: Test, env: Record<string, string>, dataDir?: string): Promise<Running> {
  const parley = await startParley(env, dataDir)
  t.teardown(() => parley.remove())
  return parley
}
const status = async ({ url }: Running, key: string) => (await send({ url, key }, '/router/v1/models')).status
const tables = async (t: Test, databaseUrl: string) =>
  (await cluster.sql(t, databaseUrl)`select 1 from pg_tables where schemaname = 'public'`).length

t.test('with DATABASE_URL, a data folder that does not exist yet is created', async (t) => {
  const dataDir = path.join(folder, 'not', 'yet')
  const parley = await started(t, { DATABASE_URL: await cluster.database('empty') }, dataDir)
  t.equal(await status(parley, testKey), 200)
  t.ok(existsSync(path.join(dataDir, 'parley.pid')))
  t.equal((await runParley(['drain'], { dataDir })).code, 0)
})

t.test(
  'if DATABASE_URL and all secrets are in the environment, the data folder need not be writable at all',
  async (t) => {
    const databaseUrl = await cluster.database('empty')
    const dataDir = '/proc/parley'
    const env = { PARLEY_PORT: '0', DATABASE_URL: databaseUrl }
    const bare = await runParley(['up'], { dataDir, env })
    refused(
      t,
      bare,
      /^parley: PARLEY_MASTER_KEY: is not set, and none can be kept in \/proc\/parley: set it, or name a folder/,
    )
    t.equal(await tables(t, databaseUrl), 0, 'the database is as it was')
    const sealed = { ...env, PARLEY_MASTER_KEY: 'm'.repeat(32) }
    const keyless = await runParley(['up'], { dataDir, env: sealed })
    t.match(keyless.stderr, /parley: PARLEY_BOOTSTRAP_KEY: is not set, and none can be kept in \/proc\/parley/)
    const parley = await started(t, sealed, dataDir)
    t.equal(await status(parley, testKey), 200)
    t.match(parley.output(), /The data folder \/proc\/parley cannot be made.*Parley runs without it/)
    t.equal(await parley.stop(), 0)
    const again = await startParley({ ...sealed, PARLEY_BOOTSTRAP_KEY: '' }, dataDir)
    t.teardown(() => again.remove())
    t.equal(await status(again, testKey), 200, 'a store that has keys needs none in the environment')
  },
)

t.test('the environment variables of a Kubernetes Service named parley are not read as settings', async (t) => {
  const links = {
    PARLEY_SERVICE_HOST: '10.43.7.1',
    PARLEY_SERVICE_PORT: '8080',
    PARLEY_SERVICE_PORT_HTTP: '8080',
    PARLEY_PORT: 'tcp://10.43.7.1:8080',
    PARLEY_PORT_8080_TCP: 'tcp://10.43.7.1:8080',
    PARLEY_PORT_8080_TCP_PROTO: 'tcp',
    PARLEY_PORT_8080_TCP_PORT: '8080',
    PARLEY_PORT_8080_TCP_ADDR: '10.43.7.1',
    // Kubernetes sets these variables for a Service named parley-admin.
    PARLEY_ADMIN_SERVICE_HOST: '10.43.7.2',
    PARLEY_ADMIN_PORT: 'tcp://10.43.7.2:9090',
    PARLEY_ADMIN_PORT_9090_TCP_ADDR: '10.43.7.2',
  }
  const check = (env: Record<string, string>) => runParley(['config', 'check'], { dataDir: folder, env })
  const linked = await check(links)
  t.equal(linked.stderr, '')
  t.match(linked.stdout, /^port +8080 /m)
  t.match(linked.stdout, /^adminPort +null /m)
  t.match((await check({ ...links, PARLEY_PORT: '8081' })).stdout, /^port +8081 /m, 'a number is a setting')
  refused(t, await check({ ...links, PARLEY_PROT: '1' }), 'parley: PARLEY_PROT: there is no such setting')
  refused(t, await check({ PARLEY_PORT: 'http://10.43.7.1' }), /^parley: PARLEY_PORT: must be integer/)
})

t.test('two instances that start at once on an empty database use the same API key', async (t) => {
  const keyOf = (parley: Running) => /key {3}(sk_live_\w+)/.exec(parley.output())?.[1]
  const firstRun = { PARLEY_BOOTSTRAP_KEY: '' }

  await t.test('two instances that start at once in one data folder print the same API key', async (t) => {
    const env = { ...firstRun, DATABASE_URL: await cluster.database('empty') }
    const dataDir = path.join(folder, 'shared')
    const both = await Promise.all([started(t, env, dataDir), started(t, env, dataDir)])
    const key = readFileSync(path.join(dataDir, 'local.key'), 'utf8').trim()
    for (const parley of both) {
      t.equal(keyOf(parley), key)
      t.equal(await status(parley, key), 200)
    }
    t.same(
      readdirSync(dataDir).filter((name) => /key\./.test(name)),
      [],
      'no draft is left',
    )
  })

  await t.test('with the embedded database, two instances that start at once print the same API key', async (t) => {
    const dataDir = path.join(folder, 'embedded')
    const both = await Promise.all([started(t, firstRun, dataDir), started(t, firstRun, dataDir)])
    const key = readFileSync(path.join(dataDir, 'local.key'), 'utf8').trim()
    for (const parley of both) t.same([keyOf(parley), await status(parley, key)], [key, 200])
  })

  await t.test('if two instances run in one data folder, commands reach the instance that started first', async (t) => {
    const env = { DATABASE_URL: await cluster.database('empty') }
    const dataDir = path.join(folder, 'again')
    const first = await started(t, env, dataDir)
    const second = await started(t, env, dataDir)
    const named = () => JSON.parse(readFileSync(path.join(dataDir, 'parley.pid'), 'utf8')) as object
    t.match(second.output(), `Process ${first.pid} serves this data folder too, at ${first.url}`)
    t.same(named(), { pid: first.pid, url: first.url })
    await second.stop()
    t.same(named(), { pid: first.pid, url: first.url })
    process.kill(first.pid, 'SIGSTOP')
    const beside = await started(t, env, dataDir).finally(() => process.kill(first.pid, 'SIGCONT'))
    await beside.stop()
    t.same(named(), { pid: first.pid, url: first.url }, 'nor does one lose the file that is slow to answer')
    await first.kill()
    const third = await started(t, env, dataDir)
    t.same(named(), { pid: third.pid, url: third.url }, 'a dead one does not keep the file')
  })

  await t.test('if two instances start at once in two data folders, only one prints an API key', async (t) => {
    const env = { ...firstRun, DATABASE_URL: await cluster.database('empty') }
    const folders = ['one', 'two'].map((name) => path.join(folder, name))
    for (const dataDir of folders) mkdirSync(dataDir)
    const both = await Promise.all(folders.map((dataDir) => started(t, env, dataDir)))
    const keys = both.flatMap((parley) => keyOf(parley) ?? [])
    t.equal(keys.length, 1, 'one of them shows a key')
    for (const parley of both) t.equal(await status(parley, keys[0] as string), 200, 'which works at both')
    const kept = folders.filter((dataDir) => existsSync(path.join(dataDir, 'local.key')))
    t.equal(kept.length, 1, 'the other keeps none that would not work')
  })
})
