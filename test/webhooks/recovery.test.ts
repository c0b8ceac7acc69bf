/** Tests recoveries: an endpoint's failed deliveries are sent again on request. */
import t from 'tap'
import { v7 } from 'uuid'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { TestCluster } from '../store/cluster.ts'
import { inOrder, ok, startReceiver, status } from './receiver.ts'
import { type Emitted, openWorld, type World } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const hourMs = 3_600_000
const dayMs = 24 * hourMs

type End = { status: string; error?: string; superseded?: boolean; due_at?: Date; expires_at?: Date }

/** Stores an event whose delivery has ended like this. Returns the event's id. */
async function ended(world: World, endpointId: string, end: End, event: Emitted = {}): Promise<string> {
  const { sql } = world
  const eventId = await world.emit(endpointId, event)
  await sql`update webhook_deliveries set ${sql(end)} where event_id = ${eventId}`
  return eventId
}

/** Adds copies of the only delivery, each created 1 ms after the copy before. */
const addNewer = ({ sql }: World, copies: number) => sql`
  insert into webhook_deliveries (organization_id, test, id, event_id, endpoint_id, endpoint_name, type, call_id, status,
    due_at, occurred_at, created_at, expires_at)
  select organization_id, test, gen_random_uuid(), event_id, endpoint_id, endpoint_name, type, call_id, status,
    due_at, occurred_at, created_at + n * interval '1 millisecond', expires_at
  from webhook_deliveries, generate_series(1, ${copies}::integer) n`

const since = ({ clock }: World, endpointId: string, ageMs = hourMs) => ({
  endpointId,
  fromMs: clock.nowMs() - ageMs,
  toMs: null,
})

const faultOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no fault',
    (error: unknown) => (error instanceof ResourceFault ? error.data : error),
  )

t.test('failed deliveries are sent again and arrive once, and other deliveries stay as they are', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const { sql, clock, deliveries, tenant } = world
  const endpoint = await world.endpoint(receiver.url)
  const failed = [
    await ended(world, endpoint, { status: 'failed', error: 'http_status' }),
    await ended(world, endpoint, { status: 'expired', expires_at: new Date(clock.nowMs() + 1) }),
    await ended(world, endpoint, { status: 'cancelled', error: 'disabled' }),
  ]
  const report = { type: 'call.report', version: 1 } as const
  const createdAt = new Date(clock.nowMs())
  const others = [
    await ended(world, endpoint, { status: 'succeeded' }),
    await ended(world, endpoint, { status: 'pending', due_at: new Date(clock.nowMs() + hourMs) }),
    await ended(world, endpoint, { status: 'cancelled', error: 'superseded', superseded: true }, report),
    await ended(world, endpoint, { status: 'failed', superseded: true }, report),
    await ended(world, endpoint, { status: 'failed' }, { type: 'call.pre_call' }),
    await ended(world, endpoint, { status: 'failed', expires_at: createdAt }),
    await ended(world, await world.endpoint(receiver.url), { status: 'failed' }),
  ]
  const read = () => sql`select * from webhook_deliveries where event_id = any(${others}) order by id`
  const before = await read()
  t.equal(await deliveries.recover(tenant, since(world, endpoint)), 3)
  t.equal(await deliveries.recover(tenant, since(world, endpoint)), 0, 'they are pending now')
  await world.settle(world.dispatcher())
  t.same(receiver.received.map(({ headers }) => headers['webhook-id']).sort(), failed.sort())
  t.same([...(await read())], [...before])
  const states = await sql<{ status: string; attempts: number; error: string | null }[]>`
    select status, attempts, error from webhook_deliveries where event_id = any(${failed})`
  for (const state of states) t.same(state, { status: 'succeeded', attempts: 1, error: null })
})

t.test('a recovered delivery that fails again has a new schedule', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(inOrder(status(500), ok))
  t.teardown(() => receiver.close())
  const { sql, clock, deliveries, tenant } = world
  const endpoint = await world.endpoint(receiver.url)
  await ended(world, endpoint, { status: 'failed' })
  await sql`update webhook_deliveries set failures = 8, attempts = 8`
  clock.advance(3 * dayMs)
  t.equal(await deliveries.recover(tenant, since(world, endpoint, 4 * dayMs)), 1)
  const dispatcher = world.dispatcher()
  await world.settle(dispatcher)
  const [id = ''] = await world.ids()
  t.match((await world.whole(id)).delivery, { status: 'pending', attempts: 9, httpStatus: 500 })
  clock.advance(5_000)
  await world.settle(dispatcher)
  t.match((await world.whole(id)).delivery, { status: 'succeeded', attempts: 10 })
  t.equal(receiver.received.length, 2)
})

t.test('a recovery takes the deliveries created from `since` on and before `until`', async (t) => {
  const world = await openWorld(t, cluster)
  const { clock, deliveries, tenant, sql } = world
  const endpoint = await world.endpoint('http://127.0.0.1:1/')
  const events: string[] = []
  for (let hours = 0; hours < 4; hours++) {
    events.push(await ended(world, endpoint, { status: 'failed' }))
    clock.advance(hourMs)
  }
  const fromMs = clock.nowMs() - 3 * hourMs
  t.equal(await deliveries.recover(tenant, { endpointId: endpoint, fromMs, toMs: fromMs + 2 * hourMs }), 2)
  const rows = await sql<{ event: string }[]>`
    select event_id as event from webhook_deliveries where status = 'pending' order by created_at`
  t.same(
    rows.map(({ event }) => event),
    events.slice(1, 3),
  )
})

t.test('the oldest delivery is sent first', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const { clock, deliveries, tenant } = world
  const endpoint = await world.endpoint(receiver.url)
  const oldestFirst: string[] = []
  for (let events = 0; events < 6; events++) {
    oldestFirst.unshift(await ended(world, endpoint, { status: 'failed' }))
    clock.advance(-1_000)
  }
  clock.advance(hourMs)
  t.equal(await deliveries.recover(tenant, since(world, endpoint, 2 * hourMs)), 6)
  const newest = await world.emit(endpoint)
  await world.settle(world.dispatcher({ limits: { max: 1, endpointMax: 1 } }))
  t.same(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [...oldestFirst, newest],
  )
})

t.test(
  'more deliveries than one batch are due in the order of their creation, though the clock stands still',
  async (t) => {
    const world = await openWorld(t, cluster)
    const { clock, deliveries, tenant, sql } = world
    const endpoint = await world.endpoint('http://127.0.0.1:1/')
    await ended(world, endpoint, { status: 'failed' })
    await addNewer(world, 500)
    t.equal(await deliveries.recover(tenant, since(world, endpoint)), 501)
    const [due] = await sql`
    with ordered as (
      select due_at, lag(due_at) over (order by created_at) as before from webhook_deliveries where status = 'pending'
    )
    select (count(*) filter (where due_at > before))::int as "inOrder", max(due_at) <= ${new Date(clock.nowMs())} as "isDue"
    from ordered`
    t.same(due, { inOrder: 500, isDue: true })
  },
)

t.test('a recovery takes at most 10,000 deliveries, the oldest first, and the next one takes the rest', async (t) => {
  const world = await openWorld(t, cluster)
  const { deliveries, tenant, sql } = world
  const endpoint = await world.endpoint('http://127.0.0.1:1/')
  await ended(world, endpoint, { status: 'failed' })
  await addNewer(world, 10_002)
  t.equal(await deliveries.recover(tenant, since(world, endpoint)), 10_000)
  const [left] = await sql`
    select (count(*) filter (where status = 'failed'))::int as failed,
      max(created_at) filter (where status = 'pending') < min(created_at) filter (where status = 'failed') as "isOldestFirst"
    from webhook_deliveries`
  t.same(left, { failed: 3, isOldestFirst: true })
  t.equal(await deliveries.recover(tenant, since(world, endpoint)), 3)
  t.equal(await deliveries.recover(tenant, since(world, endpoint)), 0)
})

t.test('a recovery is refused for a foreign endpoint, a disabled endpoint and a wrong time', async (t) => {
  const world = await openWorld(t, cluster)
  const { deliveries, tenant, sql, clock } = world
  const endpoint = await world.endpoint('http://127.0.0.1:1/')
  await ended(world, endpoint, { status: 'failed' })
  const range = since(world, endpoint)
  const foreign = (await world.other()).tenant
  t.same(await faultOf(deliveries.recover(foreign, range)), { kind: 'not_found' })
  t.same(await faultOf(deliveries.recover({ ...tenant, test: true }, range)), { kind: 'not_found' })
  for (const endpointId of [v7(), 'x'])
    t.same(await faultOf(deliveries.recover(tenant, { ...range, endpointId })), { kind: 'not_found' })
  t.match(await faultOf(deliveries.recover(tenant, since(world, endpoint, 31 * dayMs))), {
    kind: 'invalid',
    issues: [{ path: ['since'], problem: { kind: 'recovery_too_old' } }],
  })
  t.match(await faultOf(deliveries.recover(tenant, { ...range, toMs: range.fromMs })), {
    kind: 'invalid',
    issues: [{ path: ['until'], problem: { kind: 'recovery_empty' } }],
  })
  await sql`update webhook_endpoints set disabled_at = now(), disabled_reason = 'manual'`
  t.same(await faultOf(deliveries.recover(tenant, range)), {
    kind: 'redelivery_unavailable',
    isEndpointDisabled: true,
  })
  t.equal((await sql`select from webhook_deliveries where status = 'failed'`).length, 1, 'nothing was recovered')
  await sql`update webhook_endpoints set disabled_at = null, disabled_reason = null`
  t.equal(await deliveries.recover(tenant, { ...range, fromMs: clock.nowMs() - 30 * dayMs }), 1)
})

t.test('a recovery is refused while eight redeliveries of the organization are under way', async (t) => {
  const world = await openWorld(t, cluster)
  const { deliveries, tenant } = world
  const held: (() => void)[] = []
  let allHeld = () => {}
  const whenAllHeld = new Promise<void>((resolve) => {
    allHeld = resolve
  })
  const receiver = await startReceiver((response) => {
    if (held.push(() => response.end()) === 8) allHeld()
  })
  t.teardown(() => receiver.close())
  const endpoint = await world.endpoint(receiver.url)
  for (let events = 0; events < 8; events++) await ended(world, endpoint, { status: 'failed' })
  const attempts = (await world.ids()).map((id) => deliveries.redeliver(tenant, id))
  await whenAllHeld
  t.same(await faultOf(deliveries.recover(tenant, since(world, endpoint))), {
    kind: 'redelivery_unavailable',
    requestedMax: 8,
  })
  for (const answer of held) answer()
  await Promise.all(attempts)
  t.equal(await deliveries.recover(tenant, since(world, endpoint)), 0, 'they have arrived')
})
