/**
 * Tests two nodes on one database and one Redis: the request quota of an IP address is counted once for both, and
 * divided only while Redis is unreachable.
 */
import t, { type Test } from 'tap'
import type { Clock } from '../../domain/ports/system.ts'
import { createLog } from '../../runtime/telemetry/log.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { openRedis, script } from '../../store/redis/connection.ts'
import { settled } from '../clock.ts'
import { until } from '../process/machine.ts'
import { send } from '../router/requests.ts'
import { ownServer, type TestServer } from '../server.ts'
import { missingRedis, startRedis } from './redis.ts'

const skip = await missingRedis()
const quota = 40
/** Adds up the request counts in Redis, over all time windows and IP addresses. */
const sum = script(`
local sum = 0
for _, key in ipairs(redis.call('KEYS', '*addresses:*')) do
  for _, count in ipairs(redis.call('HVALS', key)) do sum = sum + count end
end
return sum`)

async function ask(target: TestServer, times: number): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: times }, () => send(target, '/router/v1/models')))
  return answers.map(({ status }) => status)
}
const count = (statuses: readonly number[], status: number) => statuses.filter((each) => each === status).length

const windowS = 86_400
const started = (t: Test, env: Record<string, string>, clock: Clock = systemClock): Promise<TestServer> =>
  ownServer(t, { PARLEY_EDGE_QUOTA: String(quota), PARLEY_EDGE_WINDOW_S: String(windowS), ...env }, { clock })

/**
 * The clock of a process that started earlier. Redis must not mix the nodes' clocks, because each process counts from
 * its own start.
 */
const olderClock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + 3 * windowS * 1000 }

t.test('with Redis a client address has one quota across all nodes', { skip }, async (t) => {
  const redis = await startRedis(t)
  const first = await started(t, { REDIS_URL: redis.url })
  const second = await started(t, { REDIS_URL: redis.url, DATABASE_URL: first.databaseUrl }, olderClock)
  const counts = await openRedis(redis.url, createLog('silent'))
  t.teardown(() => counts.close())
  /** Waits until Redis has counted this many requests, and until the node has read Redis's answer. */
  const exchanged = async (requests: number) => {
    await until(`${requests} requests are exchanged`, async () => (await counts.run(sum, [], [])) === requests)
    await settled()
    await settled()
  }
  t.equal(count(await ask(first, 30), 200), 30, 'more than half of the quota at one node')
  await exchanged(30)
  const [one] = await ask(second, 1)
  t.equal(one, 200)
  await exchanged(31)
  const statuses = await ask(second, 20)
  t.equal(count(statuses, 200), 9, 'what is left')
  t.equal(count(statuses, 429), 11)
  await exchanged(51)
  await ask(first, 1)
  await exchanged(52)
  t.equal(count(await ask(first, 5), 429), 5, 'and at the first node nothing is left')
  const policy = async () => (await send(first, '/router/v1/models')).headers.get('ratelimit-policy')
  t.equal(await policy(), `"relay-ip";q=${quota};w=86400`)
  await redis.kill()
  await until('the quota is divided', async () => (await policy()) === `"relay-ip";q=${quota / 2};w=86400`)
})
