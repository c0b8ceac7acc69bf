/** A distant database does not count as unreachable, even if one statement is slow. */
import t from 'tap'
import { DatabaseRelay } from '../process/database-relay.ts'
import { organization, silent, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

/** The delay in each direction. A new connection needs two round trips, so its first answer comes after 600 ms. */
const delayMs = 150

t.test('a slow statement on a connection with high latency is not taken for an outage', async (t) => {
  const databaseUrl = await cluster.database()
  const relay = await DatabaseRelay.start(databaseUrl)
  t.teardown(() => relay.close())
  const errors: string[] = []
  const log = { ...silent, error: (_fields: object, message: string) => void errors.push(message) }
  const store = await cluster.store(t, relay.url, { log })
  const { id } = await organization(store, 'far', 1_000)
  relay.delay(delayMs)
  const sql = cluster.sql(t, databaseUrl)
  let change: Promise<unknown> = Promise.resolve()
  await sql.begin(async (tx) => {
    await tx`select from organizations where id = ${id} for update`
    change = store.organizations.change(id, { recordingEnabled: false })
    await tx`select pg_sleep(3)`
  })
  await change
  relay.delay(0)
  t.same(errors, [])
  t.match(await store.organizations.find(id), { recordingEnabled: false })
})
