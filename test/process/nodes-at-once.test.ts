/** Two nodes that start at once on one Postgres enforce the service's limits together. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { type Answer, ask, postJson, responses, send } from '../router/requests.ts'
import { TestCluster } from '../store/cluster.ts'
import { runParley } from './command.ts'
import { until } from './machine.ts'
import { askAtOnce } from './one-at-a-time.ts'
import { type Running, startParley } from './parley.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())
const provider = { id: 'mock', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'k', models: { llm: ['mock'] } }
const env = {
  PARLEY_PROVIDERS: JSON.stringify([provider]),
  DATABASE_URL: await cluster.database('empty'),
  PARLEY_MASTER_KEY: 'm'.repeat(32),
  PARLEY_IDEMPOTENCY_LEASE_MS: '3000',
  PARLEY_EDGE_QUOTA: '1001',
}

async function node(t: Test): Promise<Running> {
  const parley = await startParley(env)
  t.teardown(() => parley.remove())
  return parley
}

const pinned = { routing: { mode: 'explicit', model: 'mock/mock' } }
const askMock = (target: Running, key: string, headers?: Record<string, string>): Promise<Answer> =>
  postJson({ ...target, key }, responses, ask('hello', pinned), headers)
const quota = async (target: Running) => (await send(target, '/router/v1/models')).headers.get('ratelimit-policy')
const asks = (count: number) => Array.from({ length: count }, (_, i) => i)

t.test('two nodes that start at once on one Postgres share their limits and keys', async (t) => {
  const both = await Promise.all([node(t), node(t)])
  const [first, second] = both
  const command = async (...args: string[]) => (await runParley(args, { dataDir: first.dataDir, env })).stdout.trim()
  const organization = /org_\w+/.exec(await command('org', 'list'))?.[0] ?? ''
  const create = (...args: string[]) => command('keys', 'create', '--org', organization, ...args)
  const limited = await create('--policy', '{"max_concurrency":1}')

  await t.test('a concurrency limit of 1 holds across both nodes from the first request on', async (t) => {
    const before = stub.requests.length
    const answers = await askAtOnce(stub, 20, (at) => askMock(both[at % 2] as Running, limited))
    t.equal(answers.filter(({ status }) => status === 200).length, 1)
    t.equal(stub.requests.length, before + 1)
    for (const { status, json } of answers) if (status !== 200) t.equal(json().error.code, 'concurrency_exhausted')
  })

  await t.test('a concurrency lease that one node releases is available at the other node', async (t) => {
    for (const i of asks(6)) {
      let answer = await askMock(both[i % 2] as Running, limited)
      await until('it is free', async () => {
        if (answer.status !== 200) answer = await askMock(both[i % 2] as Running, limited)
        return answer.status === 200
      })
      t.equal(answer.status, 200)
    }
  })

  await t.test('an idempotency key causes only one provider request across both nodes', async (t) => {
    stub.behave({ kind: 'slow', delayMs: 300 })
    const before = stub.requests.length
    const key = { 'idempotency-key': randomUUID() }
    const answers = await Promise.all(asks(40).map((i) => askMock(both[i % 2] as Running, first.key, key)))
    t.equal(stub.requests.length, before + 1)
    t.equal(answers.filter(({ status }) => status === 200).length, 1)
    const again = await Promise.all(both.map((each) => askMock(each, first.key, key)))
    for (const { status, json } of again) t.match([status, json().error.code], [409, 'request_already_started'])
    t.equal(stub.requests.length, before + 1)
  })

  await t.test('a revoked API key stops working on both nodes', async (t) => {
    const key = await create()
    for (const each of both) t.equal((await askMock(each, key)).status, 200, 'it works')
    const rows = (await command('keys', 'list', '--org', organization)).split('\n')
    const id = /key_\w+/.exec(rows.at(-1) ?? '')?.[0] ?? ''
    await command('keys', 'revoke', id, '--org', organization)
    for (const each of both) await until('it is refused', async () => (await askMock(each, key)).status === 401)
  })

  await t.test('the edge quota of a client address is divided by the number of live nodes', async (t) => {
    const half = '"relay-ip";q=501;w=300'
    for (const each of both) await until('each has half', async () => (await quota(each)) === half)
    const third = await node(t)
    const part = '"relay-ip";q=334;w=300'
    for (const each of [third, ...both]) await until('each has a third', async () => (await quota(each)) === part)
    await third.kill()
    await until('each has half again', async () => (await quota(first)) === half)
    t.equal(await second.stop(), 0)
    await until('the one that is left has all', async () => (await quota(first)) === '"relay-ip";q=1001;w=300')
  })

  await t.test('after one of two nodes has ended, the remaining node still enforces the limit', async (t) => {
    const answers = await askAtOnce(stub, 6, () => askMock(first, limited))
    t.equal(answers.filter(({ status }) => status === 200).length, 1)
  })
})
