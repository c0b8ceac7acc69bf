/**
 * The number of concurrency leases in total: with one instance, with several on one database, and while instances come
 * and go.
 */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { EndLease, LeaseKind, LeaseRefusal } from '../../domain/access/limits.ts'
import { createLocalLimits } from '../../domain/access/local-limits.ts'
import { refreshMs, type SharedLimits } from '../../store/sharing/limits.ts'
import type { Store } from '../../store/store.ts'
import type { TestClock } from '../clock.ts'
import { until } from '../process/machine.ts'
import { followSystemClock, storeClock } from '../time/store-clock.ts'
import { TestCluster } from './cluster.ts'
import { killed, spawned } from './spawned.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const one = { organizationMax: null, keyMax: 1 }
const acquire = async (store: Store, key = 'key') => await store.limits.acquire('org', key, one, 'request')

/** Ends a lease, which must have been granted. */
function end(lease: EndLease | LeaseRefusal): void {
  if (typeof lease !== 'function') throw new Error(`refused by the limit of the ${lease}`)
  lease()
}

/**
 * Waits for two refreshes. The first refresh may have begun before the change, after a notification. The second refresh
 * begins after the change.
 */
async function nextRefresh(clock: TestClock): Promise<void> {
  await clock.leap(refreshMs)
  await clock.leap(refreshMs)
}

const refresh = (store: Store) => (store.limits as SharedLimits).refresh()
const countsInMemory = (store: Store) => !(store.limits.acquire('org', 'probe', one, 'request') instanceof Promise)

t.test('in one process an API key and its organization have separate limits', (t) => {
  const leases = createLocalLimits()
  const limits = { organizationMax: 3, keyMax: 2 }
  const first = leases.acquire('org', 'key', limits, 'request')
  leases.acquire('org', 'key', limits, 'request')
  t.equal(leases.acquire('org', 'key', limits, 'request'), 'key')
  t.type(leases.acquire('org', 'other', limits, 'request'), 'function')
  t.equal(leases.acquire('org', 'third', limits, 'request'), 'organization')
  t.type(leases.acquire('org2', 'key2', { organizationMax: null, keyMax: null }, 'request'), 'function')
  if (typeof first === 'function') {
    first()
    first()
  }
  t.type(leases.acquire('org', 'third', limits, 'request'), 'function', 'ended once')
  t.equal(leases.acquire('org', 'third', limits, 'request'), 'organization')
  t.end()
})

/**
 * An organization's limit counts requests, and a key's limit counts sessions too. One instance counts in memory, and
 * two instances count in Postgres.
 */
for (const many of [false, true])
  t.test(`requests and sessions ${many ? 'of two instances' : 'of one instance'} count against limits`, async (t) => {
    const url = await cluster.database()
    const store = await cluster.store(t, url, { clock: storeClock() })
    if (many) await cluster.store(t, url, { clock: storeClock() })
    t.equal(countsInMemory(store), !many)
    const ask = async (key: string, kind: LeaseKind) =>
      store.limits.acquire('acme', key, { organizationMax: 1, keyMax: 2 }, kind)
    const session = await ask('a', 'session')
    t.type(await ask('b', 'session'), 'function', 'sessions do not count against the organization')
    const request = await ask('a', 'request')
    t.type(request, 'function', 'nor against its requests')
    t.equal(await ask('b', 'request'), 'organization')
    t.equal(await ask('a', 'session'), 'key', 'the key counts both')
    end(session)
    await until('the lease of the session was given back', async () => {
      const next = await ask('a', 'session')
      return typeof next === 'function'
    })
    t.equal(await ask('b', 'request'), 'organization', 'the end of a session frees no request')
    end(request)
    await until('the lease of the request was given back', async () => {
      const next = await ask('b', 'request')
      return typeof next === 'function'
    })
  })

t.test('two instances share the limits of a key and of its organization', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const stores = await Promise.all([cluster.store(t, url, { clock }), cluster.store(t, url, { clock })])
  const limits = { organizationMax: 10, keyMax: 6 }
  const acquire = async (store: Store, key: string) => await store.limits.acquire('org', key, limits, 'request')
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => acquire(stores[index % 2] as Store, 'key')),
  )
  const ends = answers.filter((answer) => typeof answer === 'function')
  t.equal(ends.length, 6)
  t.ok(answers.every((answer) => typeof answer === 'function' || answer === 'key'))
  const others = await Promise.all(Array.from({ length: 6 }, () => acquire(stores[0], 'other')))
  t.equal(others.filter((answer) => answer === 'organization').length, 2)
  for (const end of ends) {
    end()
    end()
  }
  // The connection is opened before the first instance closes. Then the last instance counts in memory again and
  // removes its rows.
  const sql = cluster.sql(t, url)
  await until('the ended leases are written', async () => {
    const rows =
      await sql`select key_id, sum(held)::int as held from concurrency_leases group by key_id order by key_id`
    return isDeepStrictEqual(
      [...rows],
      [
        { key_id: 'key', held: 0 },
        { key_id: 'other', held: 4 },
      ],
    )
  })
  await Promise.all(stores.map((store) => store.close({ stopPostgres: false })))
  const next = await cluster.store(t, url, { clock })
  const fresh = await Promise.all(Array.from({ length: 6 }, () => acquire(next, 'third')))
  t.ok(
    fresh.every((answer) => typeof answer === 'function'),
    'what an instance without a heartbeat held does not count',
  )
})

t.test('a single instance grants concurrency leases without waiting', async (t) => {
  const store = await cluster.store(t, await cluster.database(), { clock: storeClock() })
  const lease = store.limits.acquire('org', 'key', one, 'request')
  t.type(lease, 'function')
  t.equal(store.limits.acquire('org', 'key', one, 'request'), 'key')
  t.equal(store.liveInstances(), 1)
})

t.test('a concurrency lease granted in memory counts for an instance that starts later', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const first = await cluster.store(t, url, { clock })
  const held = first.limits.acquire('org', 'key', one, 'request')
  const brief = first.limits.acquire('org', 'brief', one, 'request')
  t.type(held, 'function')

  const second = await cluster.store(t, url, { clock })
  t.equal(second.liveInstances(), 2)
  t.equal(first.liveInstances(), 2)
  t.equal(await acquire(second), 'key', 'refused from the first request on')
  const again = first.limits.acquire('org', 'key', one, 'request')
  t.type(again, Promise)
  t.equal(await again, 'key')
  end(await brief)
  end(await held)
  await until('the lease is given back', async () => typeof (await acquire(second)) === 'function')
  t.equal(await acquire(first), 'key')
  await until('the other one too', async () => typeof (await acquire(second, 'brief')) === 'function')

  await second.close({ stopPostgres: false })
  await until('the first counts in memory again', () => first.liveInstances() === 1)
  await until(
    'the first counts in memory again',
    () => !(first.limits.acquire('org', 'x', one, 'request') instanceof Promise),
  )
  t.type(first.limits.acquire('org', 'key', one, 'request'), 'function', 'what the other held does not count')
  t.equal(first.limits.acquire('org', 'key', one, 'request'), 'key')
  t.same(
    [
      ...(await cluster.sql(t, url)`select * from concurrency_leases where instance_id in
    (select id from instances)`),
    ],
    [],
    'no rows are left',
  )
})

t.test('requests never exceed the limit while leases are moved from memory to the database', async (t) => {
  const url = await cluster.database()
  const first = await cluster.store(t, url)
  const limits = { organizationMax: null, keyMax: 5 }
  let held = 0
  let most = 0
  /** Counts, for each store, the tasks that request or hold a lease. */
  const users = new Map<Store, number>()
  const use = (store: Store, change: number) => users.set(store, (users.get(store) ?? 0) + change)
  let stopped = false
  const stores = [first]
  const work = Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      while (!stopped) {
        const store = stores[index % stores.length] as Store
        use(store, 1)
        const lease = await store.limits.acquire('org', 'key', limits, 'request')
        if (typeof lease === 'function') {
          most = Math.max(most, ++held)
          await new Promise((resolve) => setTimeout(resolve, 3))
          held -= 1
          lease()
        } else await new Promise((resolve) => setTimeout(resolve, 1))
        use(store, -1)
      }
    }),
  )
  for (let round = 0; round < 3; round += 1) {
    const second = await cluster.store(t, url)
    stores.push(second)
    await new Promise((resolve) => setTimeout(resolve, 100))
    stores.pop()
    // Like a server, the test closes the second store only after its last lease has ended.
    await until('the second has ended its leases', () => users.get(second) === 0)
    await second.close({ stopPostgres: false })
  }
  stopped = true
  await work
  t.equal(most, 5, 'all that is allowed, and never more')
  await until('it counts in memory again', () => countsInMemory(first))
  const all = Array.from({ length: 6 }, () => first.limits.acquire('org', 'key', limits, 'request'))
  t.same(
    all.map((lease) => typeof lease),
    ['function', 'function', 'function', 'function', 'function', 'string'],
  )
})

t.test('the leases of a killed instance count until they expire', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock })
  const other = await spawned([cluster.folder, url, 'lease', 'key'], 'ready')
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

t.test('a start right after a crash does not wait for the instance that was killed', async (t) => {
  const url = await cluster.database()
  const other = await spawned([cluster.folder, url, 'lease', 'key'], 'ready')
  await killed(other)
  const sql = cluster.sql(t, url)
  await until('its connections have ended', async () => {
    const [row] = await sql`select count(*) as count from pg_stat_activity where application_name like 'parley-%'
      and datname = current_database()`
    return row?.['count'] === 0
  })
  const store = await cluster.store(t, url, { clock: storeClock() })
  t.equal(store.liveInstances(), 2, 'its row is there still')
})

t.test('an instance that was paused for longer than its lease writes its leases again', async (t) => {
  const url = await cluster.database()
  const paused = await spawned([cluster.folder, url, 'lease', 'key'], 'ready')
  t.teardown(() => killed(paused))
  paused.child.kill('SIGSTOP')
  // The row has expired, and another instance has removed it.
  await cluster.sql(t, url)`delete from instances`
  const store = await cluster.store(t, url)
  const lease = await acquire(store)
  t.type(lease, 'function', 'nothing is known of the other, so the limit is exceeded')
  paused.child.kill('SIGCONT')
  await until('each knows of the other', () => store.liveInstances() === 2 && !countsInMemory(store))
  end(lease)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(await acquire(store), 'key', 'the lease of the other is a row now')
})

t.test('a lease that ended during a failed move to the database is released', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const sql = cluster.sql(t, url)
  const first = await cluster.store(t, url, { clock })
  const second = await cluster.store(t, url, { clock: storeClock() })
  const lease = await acquire(first)
  await sql`alter table concurrency_leases rename to elsewhere`
  end(lease)
  await second.close({ stopPostgres: false })
  await until('the first was notified', () => first.liveInstances() === 1)
  await refresh(first).catch(() => {})
  await cluster.store(t, url, { clock: storeClock() })
  await sql`alter table elsewhere rename to concurrency_leases`
  await until('the first was notified', () => first.liveInstances() === 2)
  await nextRefresh(clock)
  t.type(await acquire(first), 'function')
})

t.test('leases that could not be written after a pause are written later', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const sql = cluster.sql(t, url)
  const first = await cluster.store(t, url, { clock })
  const second = await cluster.store(t, url, { clock: storeClock() })
  t.type(await acquire(first), 'function')
  // The first instance's row expired during a pause, and the second instance has removed it with its leases.
  await sql`delete from instances where id = (select instance_id from concurrency_leases where held = 1)`
  await sql`delete from concurrency_leases`
  await sql`alter table concurrency_leases rename to elsewhere`
  await refresh(first).catch(() => {})
  await sql`alter table elsewhere rename to concurrency_leases`
  await nextRefresh(clock)
  t.equal(await acquire(second), 'key')
})

t.test('after a long database outage instances do not count one another as dead', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const first = await cluster.store(t, url, { clock: storeClock() })
  const second = await cluster.store(t, url, { clock })
  t.type(await acquire(first), 'function')
  // The database was unreachable for that long. The second instance is the first to reach it again.
  await cluster.sql(t, url)`update instances set alive_until = now() - interval '1 hour'`
  await refresh(second)
  t.notOk(countsInMemory(second))
  await refresh(first)
  t.equal(await acquire(second), 'key', 'the first was there all the time')
})

t.test('an instance that cannot write its leases counts in memory and writes the leases later', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const sql = cluster.sql(t, url)
  const first = await cluster.store(t, url, { clock })
  t.type(first.limits.acquire('org', 'key', one, 'request'), 'function')
  await sql`alter table concurrency_leases rename to elsewhere`
  const starting = cluster.store(t, url, { clock: storeClock() })
  await until('it was notified', () => first.liveInstances() === 2)
  await until('it counts in memory', () => countsInMemory(first))
  await sql`alter table elsewhere rename to concurrency_leases`
  await nextRefresh(clock)
  t.equal(await acquire(await starting), 'key')
})
