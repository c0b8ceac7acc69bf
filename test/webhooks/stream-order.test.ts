/**
 * The event stream of webhook events over a real database: the order is the order of storage, by the database's clock.
 */
import t, { type Test } from 'tap'
import { createStreamWebhookEvents, type Streamed, type StreamPosition } from '../../domain/webhooks/event-stream.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { organization, TestCluster } from '../store/cluster.ts'
import { eventOf, openStoredEvents } from './stored-events.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

async function setup(t: Test) {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const tenant = { organizationId: (await organization(store, 'acme')).id, test: false }
  const events = openStoredEvents(url)
  t.teardown(() => events.close())
  const stream = createStreamWebhookEvents({ store: store.webhookStreams, clock: systemClock })
  /** Stores an event as a node does whose clock differs by `aheadMs` from this machine's clock. */
  const storeOn = (aheadMs: number) => events.store(tenant, eventOf(Date.now() + aheadMs))
  return { tenant, stream, storeOn, sql: cluster.sql(t, url) }
}

t.test('a stream of webhook events leaves out no event of a node whose clock is behind', async (t) => {
  const { tenant, stream, storeOn } = await setup(t)
  const leave = new AbortController()
  const streamed = (await stream(tenant, null, leave.signal))[Symbol.asyncIterator]()
  await streamed.next()
  const next = async () => {
    const { value } = (await streamed.next()) as { value: Streamed }
    return value.kind === 'event' ? value.event.id : value.kind
  }
  for (const aheadMs of [0, 3_600_000, -3_600_000, 60_000, 0]) t.equal(await storeOn(aheadMs), await next())
  leave.abort()
  await streamed.return?.()
})

t.test('a client that reconnects gets the events of all nodes, even those from the previous schema', async (t) => {
  const { tenant, stream, storeOn, sql } = await setup(t)
  const leave = new AbortController()
  const first = (await stream(tenant, null, leave.signal))[Symbol.asyncIterator]()
  const { position } = (await first.next()).value as { position: StreamPosition }
  await first.return?.()
  const ids = [await storeOn(0), await storeOn(60_000), await storeOn(-60_000)]
  await sql`update webhook_events set stored_at = null where id = ${ids[0] ?? ''}`
  const read: string[] = []
  for await (const each of await stream(tenant, position, leave.signal)) {
    if (each.kind === 'event') read.push(each.event.id)
    if (read.length === ids.length) break
  }
  t.same(read, ids)
  leave.abort()
})
