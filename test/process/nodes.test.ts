/** Two nodes on one database, each with a data folder, enforce the service's limits and leases together. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { type Answer, ask, postJson, responses, send } from '../router/requests.ts'
import { runParley } from './command.ts'
import { databaseUrlOf } from './database.ts'
import { until } from './machine.ts'
import { askAtOnce } from './one-at-a-time.ts'
import { type Running, startParley } from './parley.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const providers = JSON.stringify([
  { id: 'mock', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'k', models: { llm: ['mock'] } },
])
const env = { PARLEY_PROVIDERS: providers, PARLEY_IDEMPOTENCY_LEASE_MS: '2000', PARLEY_EDGE_QUOTA: '1001' }

async function node(t: Test, more: Record<string, string> = {}): Promise<Running> {
  const parley = await startParley({ ...env, ...more })
  t.teardown(() => parley.remove())
  return parley
}

const pinned = { routing: { mode: 'explicit', model: 'mock/mock' } }
const askMock = (target: Running): Promise<Answer> => postJson(target, responses, ask('hello', pinned))

/** Repeats a request until it is served, because a request's lease ends shortly after its answer. */
async function askUntilTaken(target: Running): Promise<Answer> {
  for (;;) {
    const answer = await askMock(target)
    if (answer.status !== 429) return answer
  }
}

const quota = async (target: Running) => (await send(target, '/router/v1/models')).headers.get('ratelimit-policy')

t.test('two nodes that start one after the other on one database share their limits', async (t) => {
  const first = await node(t)
  t.equal(await quota(first), '"relay-ip";q=1001;w=300')
  const organization = /org_\w+/.exec((await runParley(['org', 'list'], first)).stdout)?.[0] ?? ''
  const policy = ['--policy', '{"max_concurrency":1}']
  const key = (await runParley(['keys', 'create', '--org', organization, ...policy], first)).stdout.trim()
  t.equal(await quota(first), '"relay-ip";q=1001;w=300', 'a command takes no share')

  stub.behave({ kind: 'hang' })
  const asked = stub.requests.length
  const leaving = new AbortController()
  const held = fetch(first.url + responses, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify(ask('hello', pinned)),
    signal: leaving.signal,
  }).catch(() => null)
  await until('the lease is held', () => stub.requests.length > asked)
  const databaseUrl = databaseUrlOf(first.dataDir)
  const second = await node(t, { DATABASE_URL: databaseUrl })
  const both = [first, second]

  await t.test('a concurrency lease granted before the second node started counts at the second node', async (t) => {
    const refused = await askMock({ ...second, key })
    t.equal(refused.status, 429)
    t.equal(refused.json().error.code, 'concurrency_exhausted')
    leaving.abort()
    await held
    await until('it has ended', async () => (await askMock({ ...second, key })).status === 200)
  })

  await t.test('each of two nodes allows half of the edge quota of a client address', async () => {
    const half = '"relay-ip";q=501;w=300'
    for (const each of both) await until('each has half', async () => (await quota(each)) === half)
  })

  await t.test('a concurrency limit of 1 holds across both nodes', async (t) => {
    const before = stub.requests.length
    const answers = await askAtOnce(stub, 8, (at) => askMock({ ...(both[at % 2] as Running), key }))
    t.equal(answers.filter(({ status }) => status === 200).length, 1)
    t.equal(stub.requests.length, before + 1)
  })

  await t.test('the concurrency lease of a killed node is released when the row of the node expires', async (t) => {
    stub.behave({ kind: 'hang' })
    const before = stub.requests.length
    const lost = askUntilTaken({ ...second, key }).catch(() => null)
    await until('the lease is held', () => stub.requests.length > before)
    t.equal((await askMock({ ...first, key })).status, 429)
    await second.kill()
    await lost
    await until('it is free', async () => (await askMock({ ...first, key })).status === 200)
    await until('the quota is whole again', async () => (await quota(first)) === '"relay-ip";q=1001;w=300')
  })
})
