/**
 * Tests concurrency limits and used tokens that several server instances share through Redis, while instances and Redis
 * come and go.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { EndLease, LeaseKind, LeaseRefusal } from '../../domain/access/limits.ts'
import { refreshMs, type SharedLimits } from '../../store/sharing/limits.ts'
import type { Store } from '../../store/store.ts'
import { until } from '../process/machine.ts'
import { TestCluster } from '../store/cluster.ts'
import { killed, spawned } from '../store/spawned.ts'
import { followSystemClock, storeClock } from '../time/store-clock.ts'
import { missingRedis, startRedis } from './redis.ts'

const skip = await missingRedis()
const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const one = { organizationMax: null, keyMax: 1 }
const acquire = async (store: Store, key = 'key') => await store.limits.acquire('org', key, one, 'request')
const countsInMemory = (store: Store) => !(store.limits.acquire('org', 'probe', one, 'request') instanceof Promise)
const refresh = (store: Store) => (store.limits as SharedLimits).refresh()

function end(lease: EndLease | LeaseRefusal): void {
  if (typeof lease !== 'function') throw new Error(`refused by the limit of the ${lease}`)
  lease()
}

async function setup(t: Test) {
  const redis = await startRedis(t)
  const url = await cluster.database()
  const open = (clock = storeClock()) => cluster.store(t, url, { clock, redisUrl: redis.url })
  return { redis, url, open }
}

t.test('a single instance grants concurrency leases without waiting', { skip }, async (t) => {
  const { open } = await setup(t)
  const store = await open()
  t.type(store.limits.acquire('org', 'key', one, 'request'), 'function')
  t.equal(store.limits.acquire('org', 'key', one, 'request'), 'key')
})

t.test('several instances together never grant more leases than the limit', { skip }, async (t) => {
  const { url, redis } = await setup(t)
  const clock = storeClock()
  const stores = await Promise.all([1, 2].map(() => cluster.store(t, url, { clock, redisUrl: redis.url })))
  const limits = { organizationMax: 10, keyMax: 6 }
  const ask = async (index: number, key: string, kind: LeaseKind = 'request') =>
    await (stores[index % 2] as Store).limits.acquire('org', key, limits, kind)
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(index, 'key')))
  const granted = answers.filter((answer) => typeof answer === 'function')
  t.equal(granted.length, 6)
  t.ok(answers.every((answer) => typeof answer === 'function' || answer === 'key'))
  const others = await Promise.all(Array.from({ length: 6 }, (_, index) => ask(index, 'other')))
  t.equal(others.filter((answer) => answer === 'organization').length, 2)
  t.type(await ask(0, 'third', 'session'), 'function', 'a session does not count against the organization')
  for (const lease of granted) {
    end(lease)
    end(lease)
  }
  await until('the ended leases are given back', async () => typeof (await ask(1, 'third')) === 'function')
  t.same([...(await cluster.sql(t, url)`select * from concurrency_leases`)], [], 'Postgres has no rows of leases')
})

t.test('a concurrency lease granted in memory counts for an instance that starts later', { skip }, async (t) => {
  const { open } = await setup(t)
  const first = await open()
  const held = first.limits.acquire('org', 'key', one, 'request')
  const second = await open()
  t.equal(second.liveInstances(), 2)
  t.equal(await acquire(second), 'key', 'refused from the first request on')
  end(await held)
  await until('the lease is given back', async () => typeof (await acquire(second)) === 'function')
  t.equal(await acquire(first), 'key')
  await second.close({ stopPostgres: false })
  await until('the first counts in memory again', () => first.liveInstances() === 1 && countsInMemory(first))
  t.type(first.limits.acquire('org', 'key', one, 'request'), 'function', 'what the other held does not count')
})

t.test('requests never exceed the limit while leases move and instances start and stop', { skip }, async (t) => {
  const { url, redis } = await setup(t)
  const open = () => cluster.store(t, url, { redisUrl: redis.url })
  const limits = { organizationMax: null, keyMax: 5 }
  const stores = [await open()]
  const users = new Map<Store, number>()
  const use = (store: Store, change: number) => users.set(store, (users.get(store) ?? 0) + change)
  let [held, most, isOver] = [0, 0, false]
  const work = Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      while (!isOver) {
        const store = stores[index % stores.length] as Store
        use(store, 1)
        const lease = await store.limits.acquire('org', 'key', limits, 'request')
        if (typeof lease === 'function') {
          most = Math.max(most, ++held)
          await sleep(3)
          held -= 1
          lease()
        } else await sleep(1)
        use(store, -1)
      }
    }),
  )
  for (let round = 0; round < 3; round += 1) {
    const second = await open()
    stores.push(second)
    await sleep(100)
    stores.pop()
    await until('the second has ended its leases', () => users.get(second) === 0)
    await second.close({ stopPostgres: false })
  }
  isOver = true
  await work
  t.equal(most, 5, 'all that is allowed, and never more')
})

t.test('the leases of a killed instance count until they expire', { skip }, async (t) => {
  const { url, redis } = await setup(t)
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock, redisUrl: redis.url })
  const other = await spawned([cluster.folder, url, 'lease', 'key'], 'ready', {
    env: { ...process.env, REDIS_URL: redis.url },
  })
  t.teardown(() => killed(other))
  t.match(other.lines, ['granted', 'ready'])
  // An instance waits two seconds at most until the others share their leases. On a busy machine this may take longer.
  await until('the first shares its leases', async () => {
    await followSystemClock(clock)
    return !countsInMemory(store)
  })
  t.equal(await acquire(store), 'key')
  await killed(other)
  t.equal(await acquire(store), 'key', 'not known yet')
  await until('it counts no longer', async () => {
    await clock.leap(refreshMs)
    return store.liveInstances() === 1
  })
  t.type(await acquire(store), 'function')
})

t.test('during a Redis outage each instance counts alone, and afterwards all count together', { skip }, async (t) => {
  const { redis, open } = await setup(t)
  const [first, second] = [await open(), await open()]
  const lease = await acquire(first)
  t.equal(await acquire(second), 'key')
  await redis.kill()
  await sleep(50)
  t.equal(await acquire(first), 'key', 'its own leases count')
  t.type(await acquire(second, 'other'), 'function')
  const granted = await acquire(second)
  t.type(granted, 'function', 'nothing is known of the other')
  await redis.start()
  end(granted)
  // Lets both instances exchange their counts with Redis, as their timers do in each period. A refresh before the
  // connection is back fails, and the next refresh succeeds.
  const refreshed = () => Promise.allSettled([refresh(first), refresh(second)])
  const counts = async (key: string, by: Store) => {
    await refreshed()
    const answer = await acquire(by, key)
    if (typeof answer === 'function') answer()
    return answer === 'key'
  }
  await until('the lease of the first counts', () => counts('key', second))
  await until('and that of the second', () => counts('other', first))
  end(lease)
})

t.test('a token is accepted once across all instances, and refused during a Redis outage', { skip }, async (t) => {
  const { redis, open } = await setup(t)
  const [first, second] = [await open(), await open()]
  const expiresAtMs = Date.now() + 60_000
  const spend = (store: Store, id: string, organizationId = 'org') =>
    store.usedTokens.spend(organizationId, id, expiresAtMs)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => spend(at % 2 ? first : second, 'a')))
  t.equal(answers.filter(Boolean).length, 1)
  t.equal(await spend(first, 'a', 'other'), true, 'the token of another organization is another one')
  await redis.kill()
  await sleep(50)
  await t.rejects(spend(first, 'b'), /store_unreachable/)
})

t.test('if Redis hangs, no request is delayed for long', { skip }, async (t) => {
  const { redis, open } = await setup(t)
  const [first] = [await open(), await open()]
  await until('leases are shared', () => !countsInMemory(first))
  redis.pause()
  const startedMs = performance.now()
  t.type(await acquire(first, 'x'), 'function')
  t.ok(performance.now() - startedMs < 10_000, `${Math.round(performance.now() - startedMs)} ms`)
  redis.goOn()
})

t.test('if Redis does not answer, a start fails and its error names the setting', { skip }, async (t) => {
  const { redis, open } = await setup(t)
  await redis.kill()
  await t.rejects(open(), /REDIS_URL/)
})
