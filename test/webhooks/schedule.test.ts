/** The times of delivery attempts, and how webhook deliveries end, with exact times. */
import t from 'tap'
import { retryDelayMs, retryDelaysMs } from '../../domain/webhooks/schedule.ts'
import { TestCluster } from '../store/cluster.ts'
import { inOrder, ok, startReceiver, status } from './receiver.ts'
import { openWorld } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const contract = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour]

t.test('the delays between attempts are as in the contract, with 10 % of jitter', (t) => {
  t.same(retryDelaysMs, contract)
  contract.forEach((delayMs, at) => {
    t.equal(retryDelayMs(at + 1, null, 0), delayMs - delayMs / 10)
    t.equal(retryDelayMs(at + 1, null, 0.5), delayMs)
    t.equal(retryDelayMs(at + 1, null, 1), delayMs + delayMs / 10)
  })
  t.equal(retryDelayMs(8, null, 0.5), null)
  t.equal(retryDelayMs(8, 5, 0.5), null)
  t.end()
})

t.test('Retry-After can lengthen the delay up to a day, but never shorten it', (t) => {
  t.equal(retryDelayMs(1, 4 * second, 0.5), 5 * second)
  t.equal(retryDelayMs(1, 6 * second, 0.5), 6 * second)
  t.equal(retryDelayMs(1, 24 * hour, 0.5), 24 * hour)
  t.equal(retryDelayMs(1, 24 * hour + 1, 0.5), 24 * hour)
  t.end()
})

t.test('a delivery is attempted eight times, at the delays of the contract, and has then failed', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(status(503))
  t.teardown(() => receiver.close())
  const { clock } = world
  const dispatcher = world.dispatcher()
  await world.emit(await world.endpoint(receiver.url))
  const [id = ''] = await world.ids()
  await world.settle(dispatcher)
  t.equal(receiver.received.length, 1)
  for (const [at, delayMs] of contract.entries()) {
    const { delivery } = await world.whole(id)
    t.match(delivery, {
      status: 'pending',
      attempts: at + 1,
      httpStatus: 503,
      error: 'http_status',
      deliveredAtMs: null,
    })
    const [{ due }] = await world.sql<[{ due: Date }]>`select due_at as due from webhook_deliveries`
    t.equal(due.getTime(), clock.nowMs() + delayMs)
    clock.advance(delayMs - 1)
    await world.settle(dispatcher)
    t.equal(receiver.received.length, at + 1, 'not a millisecond earlier')
    clock.advance(1)
    await world.settle(dispatcher)
    t.equal(receiver.received.length, at + 2)
  }
  const { delivery, attempts } = await world.whole(id)
  t.match(delivery, { status: 'failed', attempts: 8, canRedeliver: true })
  t.same(
    attempts.map(({ number, trigger, responseStatus, error }) => ({ number, trigger, responseStatus, error })),
    Array.from({ length: 8 }, (_, at) => ({
      number: at + 1,
      trigger: 'automatic',
      responseStatus: 503,
      error: 'http_status',
    })),
  )
  const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
  t.same([...ids], [delivery.eventId], 'one webhook-id')
  const stamps = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']))
  t.same(
    stamps.slice(1).map((stamp, at) => stamp - (stamps[at] ?? 0)),
    contract.map((ms) => ms / 1000),
    'a timestamp for each attempt',
  )
  const bodies = new Set(receiver.received.map(({ body }) => body.toString('hex')))
  t.equal(bodies.size, 1, 'the same bytes')
})

t.test("a delivery that succeeds at its second attempt shows the second answer's HTTP status", async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(inOrder(status(500), ok))
  t.teardown(() => receiver.close())
  const dispatcher = world.dispatcher()
  await world.emit(await world.endpoint(receiver.url))
  await world.settle(dispatcher)
  world.clock.advance(5 * second)
  await world.settle(dispatcher)
  const [id = ''] = await world.ids()
  t.match((await world.whole(id)).delivery, {
    status: 'succeeded',
    attempts: 2,
    httpStatus: 204,
    error: null,
    deliveredAtMs: world.clock.nowMs(),
  })
})

for (const [form, headers] of [
  ['seconds', { 'retry-after': '90' }],
  ['a date', { 'retry-after': 'Sun, 22 Nov 2026 10:01:30 GMT', date: 'Sun, 22 Nov 2026 10:00:00 GMT' }],
] as const)
  t.test(`Retry-After as ${form} is obeyed`, async (t) => {
    const world = await openWorld(t, cluster)
    const receiver = await startReceiver(status(429, headers))
    t.teardown(() => receiver.close())
    const dispatcher = world.dispatcher()
    await world.emit(await world.endpoint(receiver.url))
    await world.settle(dispatcher)
    const [{ due }] = await world.sql<[{ due: Date }]>`select due_at as due from webhook_deliveries`
    t.equal(due.getTime(), world.clock.nowMs() + 90 * second)
  })

t.test('Retry-After as a date is obeyed even if the answer has no Date', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver((response) => {
    response.sendDate = false
    response.writeHead(503, { 'retry-after': new Date(world.clock.nowMs() + 600_000).toUTCString() }).end()
  })
  t.teardown(() => receiver.close())
  const dispatcher = world.dispatcher()
  await world.emit(await world.endpoint(receiver.url))
  await world.settle(dispatcher)
  const [{ due }] = await world.sql<[{ due: Date }]>`select due_at as due from webhook_deliveries`
  const waitMs = due.getTime() - world.clock.nowMs()
  t.ok(waitMs > 570_000 && waitMs <= 600_000, `${waitMs} ms`)
})

t.test('a delivery expires 48 hours after it was created', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(status(503, { 'retry-after': '86400' }))
  t.teardown(() => receiver.close())
  const dispatcher = world.dispatcher()
  await world.emit(await world.endpoint(receiver.url))
  const [id = ''] = await world.ids()
  await world.settle(dispatcher)
  world.clock.advance(24 * hour)
  await world.settle(dispatcher)
  t.equal(receiver.received.length, 2)
  world.clock.advance(24 * hour - 1)
  await world.settle(dispatcher)
  t.match((await world.whole(id)).delivery, { status: 'pending' })
  world.clock.advance(1)
  await world.settle(dispatcher)
  t.match((await world.whole(id)).delivery, {
    status: 'expired',
    attempts: 2,
    error: 'http_status',
    canRedeliver: true,
  })
  t.equal(receiver.received.length, 2)
})

t.test('an answer of 410 disables the endpoint at once, and cancels its waiting deliveries', async (t) => {
  const world = await openWorld(t, cluster)
  const receiver = await startReceiver(status(410))
  const other = await startReceiver()
  t.teardown(() => Promise.all([receiver.close(), other.close()]))
  const dispatcher = world.dispatcher({ limits: { max: 512, endpointMax: 1 } })
  const endpoint = await world.endpoint(receiver.url)
  const healthy = await world.endpoint(other.url)
  await world.emit([endpoint, healthy])
  await world.emit(endpoint)
  await world.settle(dispatcher)
  const rows = await world.sql<{ isGone: boolean; status: string; error: string | null }[]>`
    select endpoint_id = ${endpoint} as "isGone", status, error from webhook_deliveries order by created_at, id`
  t.equal(receiver.received.length, 1)
  t.same(
    rows.map(({ isGone, status, error }) => [isGone, status, error]),
    [
      [true, 'cancelled', 'disabled'],
      [false, 'succeeded', null],
      [true, 'cancelled', 'disabled'],
    ],
  )
  const [row] = await world.sql`select disabled_at, disabled_reason from webhook_endpoints where id = ${endpoint}`
  t.same({ ...row }, { disabled_at: new Date(world.clock.nowMs()), disabled_reason: 'gone' })
})

t.test('an endpoint is disabled after five days with only failures', async (t) => {
  const world = await openWorld(t, cluster)
  const answers = { fails: true }
  const receiver = await startReceiver((response) => response.writeHead(answers.fails ? 500 : 200).end())
  t.teardown(() => receiver.close())
  const endpoint = await world.endpoint(receiver.url)
  const dispatcher = world.dispatcher()
  const reason = async () => {
    const [row] = await world.sql<{ reason: string | null }[]>`
      select disabled_reason as reason from webhook_endpoints where id = ${endpoint}`
    return row?.reason
  }
  const attempt = async () => {
    await world.sql`delete from webhook_deliveries`
    await world.emit(endpoint)
    await world.settle(dispatcher)
  }
  await attempt()
  world.clock.advance(5 * 24 * hour - 1)
  await attempt()
  t.equal(await reason(), null, 'a millisecond before')
  answers.fails = false
  await attempt()
  answers.fails = true
  world.clock.advance(1)
  await attempt()
  t.equal(await reason(), null, 'a success begins anew')
  world.clock.advance(5 * 24 * hour)
  await world.sql`delete from webhook_deliveries`
  await world.emit(endpoint)
  await world.emit(endpoint)
  await world.settle(world.dispatcher({ limits: { max: 512, endpointMax: 1 } }))
  t.equal(await reason(), 'failing')
  const rows = await world.sql`select status, error from webhook_deliveries order by id`
  t.same(
    rows.map((row) => ({ ...row })),
    [
      { status: 'cancelled', error: 'disabled' },
      { status: 'cancelled', error: 'disabled' },
    ],
  )
})
