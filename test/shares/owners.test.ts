/** Each process learns that there are several organizations before the second one sends a request. */
import t, { type Test } from 'tap'
import { createClosings } from '../../app/closings.ts'
import { openOwners } from '../../app/owners.ts'
import type { Store } from '../../store/store.ts'
import { TestClock } from '../clock.ts'
import { until } from '../process/machine.ts'
import { organization, silent, TestCluster } from '../store/cluster.ts'
import { storeClock } from '../time/store-clock.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

async function ownersOf(t: Test, store: Store) {
  const { closing, close } = createClosings()
  t.teardown(close)
  return openOwners({ store, clock: storeClock(), log: silent, closing })
}

/** Two processes over one database with one organization. */
async function processes(t: Test) {
  const url = await cluster.database()
  const stores = [await cluster.store(t, url), await cluster.store(t, url)] as const
  await organization(stores[0], 'first')
  return { url, stores }
}

t.test('a starting process detects whether the database has several organizations', async (t) => {
  const { stores } = await processes(t)
  t.notOk((await ownersOf(t, stores[0])).areSeveral)
  await organization(stores[0], 'second')
  t.ok((await ownersOf(t, stores[1])).areSeveral)
})

t.test('each process notices a second organization', async (t) => {
  const { stores } = await processes(t)
  const owners = await Promise.all(stores.map((store) => ownersOf(t, store)))
  await organization(stores[0], 'second')
  await until('both processes know it', () => owners.every(({ areSeveral }) => areSeveral))
})

t.test('a process detects a second organization as soon as the organization is enabled', async (t) => {
  const { stores } = await processes(t)
  const { id } = await organization(stores[0], 'second')
  await stores[0].organizations.change(id, { isDisabled: true })
  const owners = await ownersOf(t, stores[1])
  t.notOk(owners.areSeveral)
  await stores[0].organizations.change(id, { isDisabled: false })
  await until('the other process knows it', () => owners.areSeveral)
})

t.test('organizations are counted again after a lost connection, because notifications may be lost too', async (t) => {
  const { url, stores } = await processes(t)
  const owners = await ownersOf(t, stores[0])
  const sql = cluster.sql(t, url)
  await sql`insert into organizations (id, name, created_at) values ('org_second', 'second', now())` // Notifies no process.
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query ilike 'listen%'`
  await until('the process knows it', () => owners.areSeveral)
})

t.test('if counting the organizations fails, the count is repeated', async (t) => {
  const clock = new TestClock()
  const { closing, close } = createClosings()
  t.teardown(close)
  let changed = () => {}
  let isAway = false
  let count = 1
  const organizations = {
    watch: (run: () => void) => void (changed = run),
    areSeveral: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(count > 1)),
  }
  const owners = await openOwners({ store: { organizations }, clock, log: silent, closing })
  count = 2
  isAway = true
  changed()
  isAway = false
  t.notOk(owners.areSeveral)
  await clock.advance(60_000)
  t.ok(owners.areSeveral)
})
