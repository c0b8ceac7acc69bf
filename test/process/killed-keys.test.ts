/** A request with one idempotency key runs once, even if the process is killed before or after the dispatch. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import t from 'tap'
import { freshDataDir } from '../installation.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { type Answer, ask, postJson, responses } from '../router/requests.ts'
import { openDatabase } from './database.ts'
import { until } from './machine.ts'
import { startParley } from './parley.ts'

const leaseMs = 600
const stub = await startStubOpenAi()
const dataDir = freshDataDir()
const providers = JSON.stringify([
  {
    id: 'mock',
    adapter: 'openai',
    baseUrl: `${stub.url}/v1`,
    apiKey: 'k',
    models: { llm: ['mock'] },
  },
])
const env = { PARLEY_PROVIDERS: providers, PARLEY_IDEMPOTENCY_LEASE_MS: String(leaseMs) }
let parley = await startParley(env, dataDir)
t.teardown(async () => {
  await parley.remove()
  await stub.close()
})

const pinned = (text: string) => ask(text, { routing: { mode: 'explicit', provider: 'mock', model: 'mock' } })
const withKey = (key: string, text = 'hello'): Promise<Answer> =>
  postJson(parley, responses, pinned(text), { 'idempotency-key': key })

t.test('if the process dies before the dispatch, the idempotency key is free when its lease expires', async (t) => {
  const sql = openDatabase(dataDir)
  await holdDispatch(sql)
  const key = randomUUID()
  const before = stub.requests.length
  const lost = withKey(key).catch(() => null)
  await held(sql)
  await parley.kill()
  await lost
  await releaseDispatch(sql)
  await sql.end()
  parley = await startParley(env, dataDir)
  await sleep(leaseMs)
  t.equal((await withKey(key)).status, 200)
  t.equal(stub.requests.length - before, 1, 'the first one never reached the provider')
})

t.test('if the process is killed after the dispatch, the idempotency key stays used', async (t) => {
  stub.behave({ kind: 'hang' })
  const key = randomUUID()
  const before = stub.requests.length
  const lost = withKey(key).catch(() => null)
  while (stub.requests.length === before) await sleep(5)
  await parley.kill()
  await lost
  parley = await startParley(env, dataDir)
  await sleep(leaseMs * 2)
  const again = await withKey(key)
  t.equal(again.status, 409)
  t.equal(again.json().error.code, 'request_already_started')
})

/**
 * Adds a database trigger that sleeps before the status `dispatched` is committed, which leaves time to kill the
 * process.
 */
async function holdDispatch(sql: postgres.Sql): Promise<void> {
  await sql`create function hold_dispatch() returns trigger language plpgsql as 'begin perform pg_sleep(20); return new; end'`
  await sql`create trigger hold_dispatch before insert or update on idempotency_keys for each row when (new.status = 'dispatched') execute function hold_dispatch()`
}

async function releaseDispatch(sql: postgres.Sql): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and pid <> pg_backend_pid()`
  await sql`drop trigger hold_dispatch on idempotency_keys`
  await sql`drop function hold_dispatch()`
}

async function held(sql: postgres.Sql): Promise<void> {
  const sleepers = () => sql`select 1 from pg_stat_activity where wait_event = 'PgSleep'`
  await until('a dispatch is held', async () => (await sleepers()).length > 0)
}
