/** Several processes share the webhook deliveries. If a process dies, no delivery is lost. */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import type { Tenant } from '../../domain/records/organization.ts'
import { TestCluster } from '../store/cluster.ts'
import { startReceiver, status } from './receiver.ts'
import { openWorld } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('two processes send each delivery only once', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const endpoints = await Promise.all(Array.from({ length: 5 }, () => world.endpoint(receiver.url)))
  const dispatchers = [world.dispatcher(), world.dispatcher()]
  for (const dispatcher of dispatchers) await world.store.webhookQueue.listen((ids) => dispatcher.wake(ids))
  for (let events = 0; events < 100; events++) await world.emit(endpoints)
  for (let looks = 0; receiver.received.length < 500 && looks < 500; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await Promise.all(dispatchers.map((dispatcher) => world.settle(dispatcher)))
  t.equal(receiver.received.length, 500)
  const [row] = await world.sql<{ count: number }[]>`
    select count(*)::int as count from webhook_deliveries where status = 'succeeded' and attempts = 1 and claim = 1`
  t.equal(row?.count, 500)
})

t.test('a delivery of a dead process is sent again when its claim expires, and no attempt is counted', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const endpoint = await world.endpoint(receiver.url, { timeoutMs: 2_000 })
  await world.emit(endpoint)
  const [claimed] = await world.store.webhookQueue.claim([{ endpointId: endpoint, max: 1 }], 1_000)
  if (claimed === undefined) throw new Error('nothing was claimed')
  t.equal(claimed.claimedUntilMs, world.clock.nowMs() + 7_000)
  const dispatcher = world.dispatcher()
  await world.pass(4_000)
  await dispatcher.poll()
  t.equal(receiver.received.length, 0)
  await world.pass(3_000)
  await world.settle(dispatcher)
  t.equal(receiver.received.length, 1)
  const [id = ''] = await world.ids()
  const before = await world.whole(id)
  t.match(before.delivery, { status: 'succeeded', attempts: 1 })
  const late = { delivery: claimed, attempt: null, status: 'failed', error: 'timeout', dueAtMs: null } as const
  await world.store.webhookQueue.complete([{ ...late, failures: 1, endpoint: null }])
  t.same(await world.whole(id), before, 'the end that the dead process would have stored is ignored')
})

t.test("processes whose clocks differ by minutes respect each other's claims", async (t) => {
  const world = await openWorld(t, cluster)
  const endpoint = await world.endpoint('http://127.0.0.1:1/')
  const ahead = await world.another(300_000)
  const claim = (store: typeof ahead) => store.webhookQueue.claim([{ endpointId: endpoint, max: 1 }], 1_000)
  const statuses = () => world.sql`select status from webhook_deliveries order by created_at`
  await world.emit(endpoint)
  t.equal((await claim(world.store)).length, 1)
  t.same(await ahead.webhookQueue.due(), [])
  t.match(await statuses(), [{ status: 'delivering' }], 'the process that is ahead takes it for live')
  await world.pass(15_000)
  await ahead.webhookQueue.due()
  t.equal((await claim(ahead)).length, 1)
  await world.store.webhookQueue.due()
  t.match(await statuses(), [{ status: 'delivering' }])
  await world.pass(15_000)
  await world.store.webhookQueue.due()
  t.match(await statuses(), [{ status: 'pending' }], 'the process that is behind sees the end of the lease too')
})

t.test("a claim that is shorter than an attempt's time-out is returned, and no attempt is counted", async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(status(500))
  t.teardown(() => receiver.close())
  const endpoint = await world.endpoint(receiver.url, { timeoutMs: 2_000 })
  await world.emit(endpoint)
  const targets = world.store.webhookTargets
  const raised = async (tenant: Tenant, id: string) => {
    const target = await targets.deliveryTarget(tenant, id)
    return target && { ...target, timeoutMs: 30_000 }
  }
  const dispatcher = world.dispatcher({ targets: { deliveryTarget: raised } })
  await dispatcher.poll()
  await dispatcher.stop(60_000)
  const [id = ''] = await world.ids()
  t.match((await world.whole(id)).delivery, { status: 'pending', attempts: 0, error: null })
  t.equal(receiver.received.length, 0)
  await world.settle(world.dispatcher())
  t.match((await world.whole(id)).delivery, { status: 'pending', attempts: 1, error: 'http_status' })
})

t.test('a process claims deliveries up to bytesMax, one of each endpoint first, and at least one', async (t) => {
  const world = await openWorld(t, cluster)
  const many = await world.endpoint('http://127.0.0.1:1/')
  const one = await world.endpoint('http://127.0.0.1:1/')
  const event = { body: Buffer.alloc(1_000, 32) }
  for (let events = 0; events < 4; events++) await world.emit(many, event)
  await world.emit(one, event)
  const claimed = async (bytesMax: number) => {
    const wanted = [many, one].map((endpointId) => ({ endpointId, max: 4 }))
    const deliveries = await world.store.webhookQueue.claim(wanted, bytesMax)
    return deliveries.map(({ endpointId }) => (endpointId === one ? 'one' : 'many')).sort()
  }
  t.same(await claimed(1_001), ['many', 'one'])
  t.same(await claimed(1), ['many'])
  t.same(await claimed(2_001), ['many', 'many'])
})

t.test('the number of simultaneous deliveries to one endpoint is limited', async (t) => {
  const world = await openWorld(t, cluster)
  const open = { now: 0, most: 0 }
  const receiver = await startReceiver((response) => {
    open.now++
    open.most = Math.max(open.most, open.now)
    setTimeout(() => {
      open.now--
      response.end()
    }, 20)
  })
  t.teardown(() => receiver.close())
  const endpoint = await world.endpoint(receiver.url)
  for (let events = 0; events < 40; events++) await world.emit(endpoint)
  await world.settle(world.dispatcher({ limits: { max: 100, endpointMax: 7 } }))
  t.equal(receiver.received.length, 40)
  t.equal(open.most, 7)
})

t.test(
  'a process that stops waits for its attempts, and leaves attempts that take longer to another process',
  async (t) => {
    const world = await openWorld(t, cluster)
    const held: ServerResponse[] = []
    const receiver = await startReceiver((response) => held.push(response))
    t.teardown(() => receiver.close())
    const endpoint = await world.endpoint(receiver.url)
    await world.emit(endpoint)
    const first = world.dispatcher()
    await first.poll()
    while (held.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
    const stopped = first.stop(10_000)
    held[0]?.end()
    await stopped
    const [id = ''] = await world.ids()
    t.match((await world.whole(id)).delivery, { status: 'succeeded', attempts: 1 }, 'its end is stored')

    await world.emit(endpoint)
    const second = world.dispatcher()
    await second.poll()
    while (held.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
    await second.stop(50)
    held[1]?.destroy()
    await new Promise((resolve) => setTimeout(resolve, 100))
    const [, other = ''] = await world.ids()
    t.match((await world.whole(other)).delivery, { status: 'delivering', attempts: 0 }, 'it has not failed')
  },
)

t.test('if 12,000 endpoints have due deliveries, three polls of the queue find every endpoint', async (t) => {
  const world = await openWorld(t, cluster)
  const { organizationId, test } = world.tenant
  const now = new Date(world.clock.nowMs())
  const eventId = await world.emit([])
  t.same(await world.ids(), [])
  await world.sql`
    insert into webhook_events (organization_id, test, id, type, call_id, tags, body, occurred_at, created_at)
    values (${organizationId}, ${test}, ${eventId}, 'call.status', ${eventId}, '{}', '{}', ${now}, ${now})`
  await world.sql`
    insert into webhook_deliveries (organization_id, test, id, event_id, endpoint_id, endpoint_name, type, call_id, status, due_at,
      occurred_at, created_at, expires_at)
    select ${organizationId}, ${test}, gen_random_uuid(), ${eventId}, gen_random_uuid(), 'one of many', 'call.status', ${eventId},
      'pending', ${now}, ${now}, ${now}, ${new Date(world.clock.nowMs() + 60_000)}
    from generate_series(1, 12_000)`
  const { webhookQueue } = world.store
  const looks = []
  for (let look = 0; look < 4; look++) looks.push(await webhookQueue.due())
  const found = new Set(looks.slice(0, 3).flatMap((endpoints) => endpoints.map(({ endpointId }) => endpointId)))
  t.equal(found.size, 12_000)
  t.match(looks[0]?.[0], { organizationId })
  t.same(looks[3], looks[0], 'then it begins again')
})
