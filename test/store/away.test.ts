/**
 * While the database is frozen, unreachable or dead, requests are refused at once, and API keys that were read before
 * are still accepted.
 */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { DatabaseRelay } from '../process/database-relay.ts'
import { descendants, until } from '../process/machine.ts'
import { ask, postJson, responses, send } from '../router/requests.ts'
import { ownServer, type TestServer } from '../server.ts'
import { loopbackProviders } from '../session/voice-session.ts'
import { TestCluster } from './cluster.ts'

/** With this cache time each request would read its API key again. */
const settings = { PARLEY_PROVIDERS: loopbackProviders, PARLEY_STORE_KEY_CACHE_MS: '0' }
const pinned = ask('hello', { routing: { mode: 'explicit', provider: 'loopback', model: 'loopback' } })

const chat = (parley: TestServer, idempotencyKey: string = randomUUID()) =>
  postJson(parley, responses, pinned, { 'idempotency-key': idempotencyKey })
const isReady = async (parley: TestServer) => (await fetch(`${parley.url}/readyz`)).status === 200
const models = (parley: TestServer) => send(parley, '/router/v1/models')

/** Checks the answers during an outage. Resolves with the key of the first refused request. */
async function isRefused(t: Test, parley: TestServer): Promise<string> {
  const key = randomUUID()
  const first = await chat(parley, key)
  t.match([first.status, first.json().error.code], [503, 'service_unavailable'])
  t.equal(first.headers.get('retry-after'), '1')
  const later = await Promise.all([1, 2, 3, 4].map(() => chat(parley)))
  t.same(
    later.map(({ status }) => status),
    [503, 503, 503, 503],
  )
  t.equal((await models(parley)).status, 200, 'a key that is known works')
  const unknown = await models({ ...parley, key: parley.key.replace(/.$/, '0') })
  t.equal(unknown.status, 503, 'a key that is not known cannot be checked')
  t.notOk(await isReady(parley))
  return key
}

async function isServed(t: Test, parley: TestServer, refusedKey: string): Promise<void> {
  await until('it is ready', () => isReady(parley))
  t.equal((await chat(parley)).status, 200)
  const codes: string[] = []
  await until('the key of the refused request is free', async () => {
    const answer = await chat(parley, refusedKey)
    if (answer.status !== 200) codes.push(answer.json().error.code)
    return answer.status === 200
  })
  t.comment(codes.join(' '))
}

/** Stops or continues Postgres with all its processes. */
function signalAll(pid: number, signal: NodeJS.Signals): void {
  for (const one of [pid, ...descendants(pid)]) process.kill(one, signal)
}

/** A server that has served a request, and the relay to its database. */
async function behindRelay(t: Test): Promise<{ relay: DatabaseRelay; parley: TestServer }> {
  const cluster = await TestCluster.start()
  t.teardown(() => cluster.stop())
  const relay = await DatabaseRelay.start(await cluster.database())
  t.teardown(() => relay.close())
  const parley = await ownServer(t, { ...settings, DATABASE_URL: relay.url })
  t.equal((await chat(parley)).status, 200)
  return { relay, parley }
}

t.test('if the database freezes, requests are refused with 503 until it answers again', async (t) => {
  const cluster = await TestCluster.startOwn()
  t.teardown(() => cluster.stop())
  const parley = await ownServer(t, { ...settings, DATABASE_URL: await cluster.database('empty') })
  t.equal((await chat(parley)).status, 200)
  const pid = cluster.server.pid()
  signalAll(pid, 'SIGSTOP')
  try {
    const key = await isRefused(t, parley)
    signalAll(pid, 'SIGCONT')
    await isServed(t, parley, key)
  } finally {
    signalAll(pid, 'SIGCONT')
  }
})

t.test('if the network to the database passes no data, requests are refused with 503 until it recovers', async (t) => {
  const { relay, parley } = await behindRelay(t)
  relay.silence()
  const key = await isRefused(t, parley)
  relay.endSilence()
  await isServed(t, parley, key)
})

t.test('if the connection to the database is cut, requests are refused with 503 until it is restored', async (t) => {
  const { relay, parley } = await behindRelay(t)
  relay.cut()
  await until('it notices', async () => !(await isReady(parley)))
  const key = await isRefused(t, parley)
  await relay.repair()
  await isServed(t, parley, key)
})

t.test("if the database's disk is full, the answer is 503 and not an internal error", async (t) => {
  const cluster = await TestCluster.start()
  t.teardown(() => cluster.stop())
  const databaseUrl = await cluster.database()
  const parley = await ownServer(t, { ...settings, DATABASE_URL: databaseUrl })
  const sql = cluster.sql(t, databaseUrl)
  for (const [table, code] of [
    ['idempotency_keys', "'53100'"],
    ['agents', 'upper(new.name_key)'],
  ] as const)
    await sql.unsafe(`
      create function refuse_${table}() returns trigger language plpgsql
        as $$ begin raise exception 'no' using errcode = ${code}; end $$;
      create trigger refuses before insert on ${table} for each row execute function refuse_${table}()`)
  t.match((await chat(parley)).json().error, { code: 'service_unavailable' })
  for (const name of ['53100', '53200', '25006', '57P03']) {
    const answer = await postJson(parley, '/v1/agents', { name, systemPrompt: 'Be brief.', intent: { language: 'en' } })
    t.match([answer.status, answer.json<{ code: string }>().code], [503, 'SERVICE_UNAVAILABLE'], name)
  }
})
