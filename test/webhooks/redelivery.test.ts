/** Tests webhook redeliveries that a client requests, and the delivery log. */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { v7 } from 'uuid'
import type { ResourceFault } from '../../domain/records/resource-fault.ts'
import { TestCluster } from '../store/cluster.ts'
import { inOrder, ok, startReceiver, status } from './receiver.ts'
import { openWorld } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const dayMs = 86_400_000
const unavailable = 'redelivery_unavailable'
const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no fault',
    (error: unknown) => (error as ResourceFault).data.kind,
  )

t.test('a successful redelivery cancels the scheduled attempt', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(inOrder(status(500), ok))
  t.teardown(() => receiver.close())
  const dispatcher = world.dispatcher()
  await world.emit(await world.endpoint(receiver.url))
  await world.settle(dispatcher)
  const [id = ''] = await world.ids()
  t.match(await world.deliveries.redeliver(world.tenant, id), { error: null, responseStatus: 204, trigger: 'manual' })
  world.clock.advance(dayMs)
  await world.settle(dispatcher)
  t.equal(receiver.received.length, 2)
  const { delivery, attempts } = await world.whole(id)
  t.match(delivery, { status: 'succeeded', attempts: 2, httpStatus: 204, error: null })
  t.same(
    attempts.map(({ number, trigger }) => [number, trigger]),
    [
      [1, 'automatic'],
      [2, 'manual'],
    ],
  )
  t.equal(receiver.received[0]?.headers['webhook-id'], receiver.received[1]?.headers['webhook-id'])
  t.same(receiver.received[0]?.body, receiver.received[1]?.body)
})

t.test('a failed redelivery does not count as a scheduled attempt, and does not move the next attempt', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(status(500))
  t.teardown(() => receiver.close())
  const dispatcher = world.dispatcher()
  await world.emit(await world.endpoint(receiver.url))
  await world.settle(dispatcher)
  const [id = ''] = await world.ids()
  const before = await world.sql`select due_at, failures, status from webhook_deliveries`
  world.clock.advance(1_000)
  t.match(await world.deliveries.redeliver(world.tenant, id), { error: 'http_status', responseStatus: 500 })
  t.same([...(await world.sql`select due_at, failures, status from webhook_deliveries`)], [...before])
  t.equal((await world.whole(id)).delivery.attempts, 2)
})

t.test('a finished delivery can be redelivered, and keeps its status if the redelivery fails', async (t) => {
  const world = await openWorld(t, cluster)
  const answers = { code: 500 }
  const receiver = await startReceiver((response) => response.writeHead(answers.code).end())
  t.teardown(() => receiver.close())
  const endpoint = await world.endpoint(receiver.url)
  for (const over of ['succeeded', 'failed', 'cancelled', 'expired']) {
    await world.emit(endpoint)
    const id = (await world.ids()).at(-1) ?? ''
    await world.sql`update webhook_deliveries set status = ${over}, error = 'http_status', http_status = 503 where id = ${id}`
    answers.code = 500
    t.equal((await world.deliveries.redeliver(world.tenant, id)).error, 'http_status')
    t.match((await world.whole(id)).delivery, { status: over, attempts: 1, httpStatus: 503 })
    answers.code = 200
    t.equal((await world.deliveries.redeliver(world.tenant, id)).error, null)
    t.match((await world.whole(id)).delivery, { status: 'succeeded', attempts: 2, httpStatus: 200, error: null })
  }
})

t.test('a delivery that is unknown, under way or without an endpoint cannot be redelivered', async (t) => {
  const world = await openWorld(t, cluster)
  const held: ServerResponse[] = []
  const receiver = await startReceiver((response) => held.push(response))
  t.teardown(() => receiver.close())
  const { deliveries, tenant, sql } = world
  const endpoint = await world.endpoint(receiver.url)
  t.equal(await faultOf(deliveries.redeliver(tenant, v7())), 'not_found')
  t.equal(await faultOf(deliveries.redeliver(tenant, 'x')), 'not_found')
  await world.emit(endpoint, { type: 'call.pre_call' })
  await world.emit(endpoint)
  const [preCall = '', running = ''] = await world.ids()
  t.equal(await faultOf(deliveries.redeliver(tenant, preCall)), unavailable, 'an event before a call')
  t.equal(await faultOf(deliveries.redeliver({ ...tenant, test: true }, running)), 'not_found')

  const attempt = deliveries.redeliver(tenant, running)
  while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  t.match((await world.whole(running)).delivery, { status: 'delivering', canRedeliver: false })
  t.equal(await faultOf(deliveries.redeliver(tenant, running)), unavailable, 'an attempt is under way')
  held[0]?.writeHead(500).end()
  await attempt

  await sql`update webhook_endpoints set disabled_at = now(), disabled_reason = 'manual'`
  t.equal((await world.whole(running)).delivery.canRedeliver, false)
  t.equal(await faultOf(deliveries.redeliver(tenant, running)), unavailable, 'the endpoint is disabled')
  await sql`delete from webhook_endpoints`
  t.match((await world.whole(running)).delivery, { canRedeliver: false, isEndpointDeleted: true })
  t.equal(await faultOf(deliveries.redeliver(tenant, running)), unavailable, 'the endpoint is gone')
})

t.test('at most eight redeliveries of an organization run at once', async (t) => {
  const world = await openWorld(t, cluster)
  const held: ServerResponse[] = []
  const receiver = await startReceiver((response) => held.push(response))
  t.teardown(() => receiver.close())
  const { deliveries, tenant } = world
  const endpoint = await world.endpoint(receiver.url)
  for (let events = 0; events < 9; events++) await world.emit(endpoint)
  const ids = await world.ids()
  const last = ids.pop() ?? ''
  const attempts = ids.map((id) => deliveries.redeliver(tenant, id))
  while (held.length < 8) await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal(await faultOf(deliveries.redeliver(tenant, last)), unavailable)
  t.match((await world.whole(last)).delivery, { status: 'pending', attempts: 0 }, 'it is not claimed')
  for (const response of held.splice(0)) response.end()
  await Promise.all(attempts)
  const again = deliveries.redeliver(tenant, last)
  while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  held[0]?.end()
  t.match(await again, { error: null })
})

t.test('a redelivery whose process has died is not tried again', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const dispatcher = world.dispatcher()
  await world.emit(await world.endpoint(receiver.url))
  await world.settle(dispatcher)
  const [id = ''] = await world.ids()
  t.match(await world.store.webhookDeliveries.claimForRedelivery(world.tenant, id), { trigger: 'manual' })
  await world.pass(15_000)
  await world.settle(dispatcher)
  t.match((await world.whole(id)).delivery, { status: 'succeeded', attempts: 1 })
  t.equal(receiver.received.length, 1)
})

t.test('an answer of 410 to a redelivery disables the endpoint', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(inOrder(status(500), status(410)))
  t.teardown(() => receiver.close())
  await world.emit(await world.endpoint(receiver.url))
  await world.settle(world.dispatcher())
  const [id = ''] = await world.ids()
  t.match(await world.deliveries.redeliver(world.tenant, id), { responseStatus: 410 })
  t.match((await world.whole(id)).delivery, { status: 'cancelled', error: 'disabled' })
})

t.test('a delivery whose endpoint was deleted or disabled meanwhile is cancelled', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const deleted = await world.endpoint(receiver.url)
  const disabled = await world.endpoint(receiver.url)
  await world.emit([deleted, disabled])
  await world.sql`delete from webhook_endpoints where id = ${deleted}`
  await world.sql`update webhook_endpoints set disabled_at = now(), disabled_reason = 'manual' where id = ${disabled}`
  await world.settle(world.dispatcher())
  const rows = await world.sql<{ status: string; error: string }[]>`
    select status, error from webhook_deliveries order by endpoint_id = ${disabled}`
  t.same(
    [...rows],
    [
      { status: 'cancelled', error: 'deleted' },
      { status: 'cancelled', error: 'disabled' },
    ],
  )
  t.equal(receiver.received.length, 0)
})

t.test('an endpoint that is disabled during an attempt gets no further attempt', async (t) => {
  const world = await openWorld(t, cluster)
  const held: ServerResponse[] = []
  const receiver = await startReceiver((response) => held.push(response))
  t.teardown(() => receiver.close())
  await world.emit(await world.endpoint(receiver.url))
  const dispatcher = world.dispatcher()
  await dispatcher.poll()
  while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await world.sql`update webhook_endpoints set disabled_at = now(), disabled_reason = 'manual'`
  held[0]?.writeHead(503).end()
  await world.settle(dispatcher)
  const [id = ''] = await world.ids()
  t.match((await world.whole(id)).delivery, { status: 'cancelled', error: 'disabled', httpStatus: 503, attempts: 1 })
})

t.test('the log keeps deliveries for 30 days', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const { store, tenant, clock } = world
  await world.emit(await world.endpoint(receiver.url))
  await world.settle(world.dispatcher())
  const [id = ''] = await world.ids()
  clock.advance(30 * dayMs)
  await store.webhookDeliveries.purge()
  t.equal((await world.whole(id)).attempts.length, 1)
  t.equal((await store.webhookDeliveries.list(tenant, {}, 50, null)).deliveries.length, 1)
  clock.advance(1)
  t.equal(await store.webhookDeliveries.find(tenant, id), null, 'it is not shown before it is deleted either')
  t.equal((await store.webhookDeliveries.list(tenant, {}, 50, null)).deliveries.length, 0)
  await store.webhookDeliveries.purge()
  for (const table of ['webhook_events', 'webhook_deliveries', 'webhook_attempts'])
    t.equal((await world.sql`select from ${world.sql(table)}`).length, 0, table)
})

t.test('log pruning keeps waiting deliveries, and removes more rows than one statement can', async (t) => {
  const world = await openWorld(t, cluster)
  const { store, tenant, clock, sql } = world
  const endpoint = await world.endpoint('http://127.0.0.1:1/')
  const open = await world.emit(endpoint)
  await world.emit(endpoint)
  await sql`update webhook_deliveries set status = 'succeeded' where event_id <> ${open}`
  const { organizationId, test } = tenant
  await sql`
    insert into webhook_events (organization_id, test, id, type, call_id, tags, body, occurred_at, created_at)
    select ${organizationId}, ${test}, gen_random_uuid(), 'call.status', gen_random_uuid(), '{}', '{}', created_at, created_at
    from webhook_events, generate_series(1, 1_250)`
  clock.advance(30 * dayMs + 1)
  await store.webhookDeliveries.purge()
  t.same(
    (await sql<{ id: string }[]>`select id from webhook_events`).map(({ id }) => id),
    [open],
  )
})

t.test('an endpoint that is enabled again gets no events from before it was disabled', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const { store, tenant, clock } = world
  const endpointId = await world.endpoint(receiver.url)
  await world.emit(endpointId)
  const claimed = await store.webhookQueue.claim([{ endpointId, max: 1 }], 1_000)
  t.equal(claimed.length, 1, 'by a process that dies')
  const set = (disabledAtMs: number | null) =>
    store.webhookEndpoints.change(tenant, endpointId, (endpoint, secrets) => ({
      endpoint: { ...endpoint, disabledAtMs, disabledReason: disabledAtMs === null ? null : 'manual' },
      secrets: secrets(),
    }))
  await set(clock.nowMs())
  await world.pass(15_000)
  await store.webhookQueue.due()
  const [id = ''] = await world.ids()
  t.match((await world.whole(id)).delivery, { status: 'pending' })
  await set(null)
  await world.emit(endpointId)
  await world.settle(world.dispatcher())
  t.match((await world.whole(id)).delivery, { status: 'cancelled', error: 'disabled' })
  t.equal(receiver.received.length, 1, 'but what comes afterwards')
})
