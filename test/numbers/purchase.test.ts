/** Phone numbers are bought at the simulated carrier: the order and the payment, also after failures. */
import t from 'tap'
import { setupStatusOf } from '../../domain/numbers/setup-status.ts'
import { NumberCarrierError } from '../../domain/ports/number-carrier.ts'
import { Fault } from '../../domain/records/fault.ts'
import { TestCluster } from '../store/cluster.ts'
import { atOnceMicroUsd, faultOf, setUp } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const usdMicro = 1_000_000

t.test('a number is bought, charged, and released without a refund', async (t) => {
  const { numbers, tenant, creditOf, clock, store } = await setUp(t, cluster)
  const local = await tenant(5 * usdMicro)
  const bought = await numbers.purchase(local, { e164: '+12125550101', label: 'Desk' })
  t.match(bought, { direction: 'outbound', label: 'Desk', order: { status: 'done', resourceId: '12125550101' } })
  t.equal(bought.lastChargedAtMs, clock.nowMs())
  t.equal(new Date(bought.nextChargeAtMs ?? 0).toISOString(), '2023-12-14T22:13:20.000Z')
  t.match(setupStatusOf(bought, true), { status: 'ready', outboundReady: true, issues: [] })
  t.equal(await creditOf(local.organizationId), 5 * usdMicro - atOnceMicroUsd)
  t.match(await store.phoneNumbers.outboundFor(local, null, null, () => true), { id: bought.id })
  t.same(await faultOf(numbers.purchase(local, { e164: '+12125550101' })), { kind: 'number_exists' })
  await numbers.release(local, bought.id)
  t.same(await numbers.list(local), [])
  t.equal(await creditOf(local.organizationId), 5 * usdMicro - atOnceMicroUsd)
  t.equal((await numbers.purchase(local, { e164: '+12125550101' })).order.status, 'done', 'the number is sold again')
})

t.test('a pending order is checked every 5 s, and the number can call when the order is done', async (t) => {
  const { numbers, look, tenant, clock, store } = await setUp(t, cluster)
  const local = await tenant(5 * usdMicro)
  const bought = await numbers.purchase(local, { e164: '+12125550198' })
  t.match(setupStatusOf(bought, true), { status: 'action_required', outboundReady: false, issues: ['carrier_pending'] })
  t.equal(await store.phoneNumbers.outboundFor(local, null, bought.e164, () => true), 'not_ready')
  t.same(await faultOf(numbers.release(local, bought.id)), { kind: 'order_pending' })
  await clock.advance(4999)
  await look()
  t.equal((await numbers.get(local, bought.id)).order.status, 'pending')
  await clock.advance(1)
  await look()
  t.match((await numbers.get(local, bought.id)).order, { status: 'done', resourceId: '12125550198' })
  t.match(await store.phoneNumbers.outboundFor(local, null, bought.e164, () => true), { id: bought.id })
})

t.test('an order that fails later is refunded once, also with two processes', async (t) => {
  const { numbers, processes, tenant, creditOf, clock, store } = await setUp(t, cluster, 2)
  const local = await tenant(5 * usdMicro)
  const bought = await numbers.purchase(local, { e164: '+12125550197' })
  t.equal(await creditOf(local.organizationId), 5 * usdMicro - atOnceMicroUsd)
  await clock.advance(5000)
  const { numberOrders } = store
  await Promise.all([
    ...processes.map(({ look }) => look()),
    numberOrders.end(bought, { status: 'failed' }),
    numberOrders.end(bought, { status: 'failed' }),
  ])
  const failed = await numbers.get(local, bought.id)
  t.match(setupStatusOf(failed, true), {
    status: 'action_required',
    outboundReady: false,
    issues: ['carrier_order_failed'],
  })
  t.match(failed, { nextChargeAtMs: null, lastChargedAtMs: null })
  t.equal(await creditOf(local.organizationId), 5 * usdMicro)
  t.equal(await store.phoneNumbers.findInbound(bought.e164, { line: 'carrier', organizationId: null }), null)
  await numbers.release(local, bought.id)
  t.same(await numbers.list(local), [])
  t.equal(await creditOf(local.organizationId), 5 * usdMicro)
})

t.test('if a process dies after it stored the number, the order is looked up later by its reference', async (t) => {
  const { numbers, look, simulated, tenant, clock } = await setUp(t, cluster, 1, {
    order: () => Promise.reject(new Error('the process ends here')),
  })
  const local = await tenant(5 * usdMicro)
  await t.rejects(numbers.purchase(local, { e164: '+12125550102' }), /the process ends here/)
  const [stored] = await numbers.list(local)
  t.equal(stored?.order.status, 'pending')
  await simulated.order('+12125550102', stored?.id ?? '')
  await clock.advance(30_000)
  await look()
  t.match((await numbers.list(local))[0]?.order, { status: 'done', resourceId: '12125550102' })
})

t.test('if the database fails after the order, the number is pending and is looked up later', async (t) => {
  const lost = () => Promise.reject(new Fault({ kind: 'store_unreachable' }))
  const { numbers, look, tenant, creditOf, clock } = await setUp(t, cluster, 1, {}, { end: lost })
  const local = await tenant(5 * usdMicro)
  const bought = await numbers.purchase(local, { e164: '+12125550112' })
  t.equal(bought.order.status, 'pending')
  t.equal(await creditOf(local.organizationId), 5 * usdMicro - atOnceMicroUsd)
  await clock.advance(30_000)
  await look()
  t.match(await numbers.list(local), [{ id: bought.id, order: { status: 'done' } }])
})

t.test('an order that the carrier cannot find after 60 s counts as never placed', async (t) => {
  const { numbers, look, tenant, creditOf, clock } = await setUp(t, cluster, 1, {
    order: () => Promise.reject(new NumberCarrierError('unknown')),
  })
  const local = await tenant(5 * usdMicro)
  t.equal((await numbers.purchase(local, { e164: '+12125550102' })).order.status, 'pending', 'it may be there')
  await clock.advance(59_999)
  await look()
  t.equal((await numbers.list(local))[0]?.order.status, 'pending')
  await clock.advance(5_001)
  await look()
  t.equal((await numbers.list(local))[0]?.order.status, 'failed')
  t.equal(await creditOf(local.organizationId), 5 * usdMicro)
})

t.test('if the carrier fails in search, order or release, nothing is stored and nothing is charged', async (t) => {
  const failing = () => Promise.reject(new NumberCarrierError('failed'))
  const fault = { kind: 'carrier_number_failed' }
  const ofOrder = { ...fault, isOrdered: true }
  for (const [method, expected] of [['offerOf', fault] as const, ['order', ofOrder] as const]) {
    const { numbers, tenant, creditOf } = await setUp(t, cluster, 1, { [method]: failing })
    const local = await tenant(5 * usdMicro)
    t.same(await faultOf(numbers.purchase(local, { e164: '+12125550103' })), expected, method)
    t.same(await numbers.list(local), [])
    t.equal(await creditOf(local.organizationId), 5 * usdMicro)
  }
  const { numbers, tenant } = await setUp(t, cluster, 1, { search: failing, release: failing })
  const local = await tenant(5 * usdMicro)
  t.same(await faultOf(numbers.search(local, { areaCode: null, locality: null, limit: 1 })), fault)
  const { id } = await numbers.purchase(local, { e164: '+12125550103' })
  t.same(await faultOf(numbers.release(local, id)), fault)
  t.match(await numbers.get(local, id), { order: { status: 'done' } })
})

t.test('a number that the carrier no longer has counts as released', async (t) => {
  const { numbers, simulated, tenant } = await setUp(t, cluster)
  const local = await tenant(5 * usdMicro)
  const { id } = await numbers.purchase(local, { e164: '+12125550104' })
  await simulated.release('12125550104')
  await numbers.release(local, id)
  t.same(await numbers.list(local), [])
})

t.test('invalid purchases are refused before anything is charged', async (t) => {
  const { numbers, tenant, creditOf } = await setUp(t, cluster)
  const local = await tenant(5 * usdMicro)
  const refused = async (wanted: Parameters<typeof numbers.purchase>[1]) => faultOf(numbers.purchase(local, wanted))
  for (const e164 of ['+442071838750', '+14165550100', '+12125'])
    t.match(await refused({ e164 }), { kind: 'invalid', issues: [{ path: ['e164'] }] }, e164)
  t.match(await refused({ e164: '+12125550105', direction: 'both' }), { kind: 'invalid' })
  t.same(await refused({ e164: '+12125550105', agentId: 'agent_0123456789012345678901' }), {
    kind: 'named_not_found',
    path: ['agentId'],
  })
  t.same(await refused({ e164: '+12125550199' }), { kind: 'number_unavailable', isOrdered: true })
  t.same(await refused({ e164: '+12125551234' }), { kind: 'number_unavailable' }, 'nobody offers it')
  t.same(await numbers.list(local), [])
  t.equal(await creditOf(local.organizationId), 5 * usdMicro)
})

t.test('a live key needs a verified business, and a test key needs no business and no credit', async (t) => {
  const { numbers, verifications, tenant, creditOf } = await setUp(t, cluster)
  const acme = await tenant(5 * usdMicro, { isVerified: false })
  const refused = (status: string) => ({ kind: 'verification_required', status })
  t.same(await faultOf(numbers.purchase(acme, { e164: '+12125550106' })), refused('missing'))
  const revoked = await tenant(5 * usdMicro)
  await verifications.decide(revoked.organizationId, { event: 'revoke' })
  t.same(await faultOf(numbers.purchase(revoked, { e164: '+12125550106' })), refused('revoked'))
  const inTest = await tenant(0, { isVerified: false, test: true })
  const bought = await numbers.purchase(inTest, { e164: '+12125550106' })
  t.match(bought, { test: true, price: null, nextChargeAtMs: null, lastChargedAtMs: null, order: { status: 'done' } })
  t.equal(await creditOf(inTest.organizationId), 0)
  t.equal((await numbers.search(acme, { areaCode: '212', locality: null, limit: 2 })).length, 2, 'a search has no gate')
})

t.test('a purchase is refused if the credit is too low, also for two purchases at once', async (t) => {
  const { numbers, tenant, creditOf } = await setUp(t, cluster)
  const poor = await tenant(atOnceMicroUsd - 1)
  t.same(await faultOf(numbers.purchase(poor, { e164: '+12125550107' })), {
    kind: 'number_not_paid',
    microUsd: atOnceMicroUsd,
  })
  const local = await tenant(atOnceMicroUsd)
  const wanted = ['+12125550108', '+12125550109', '+12125550110']
  const outcomes = await Promise.all(wanted.map((e164) => faultOf(numbers.purchase(local, { e164 }))))
  t.equal(outcomes.filter((fault) => fault === null).length, 1)
  t.equal(await creditOf(local.organizationId), 0)
  t.equal((await numbers.list(local)).length, 1)
})

t.test('if two organizations buy one number at once, one purchase is refused as number_unavailable', async (t) => {
  const { numbers, tenant, creditOf } = await setUp(t, cluster)
  const both = [await tenant(5 * usdMicro), await tenant(5 * usdMicro)]
  const e164 = '+12125550111'
  const outcomes = await Promise.all(both.map((local) => faultOf(numbers.purchase(local, { e164 }))))
  t.same(
    outcomes.map((fault) => fault?.kind ?? null).sort((a, b) => String(a).localeCompare(String(b))),
    [null, 'number_unavailable'],
  )
  const credits = await Promise.all(both.map(({ organizationId }) => creditOf(organizationId)))
  t.equal((credits[0] ?? 0) + (credits[1] ?? 0), 10 * usdMicro - atOnceMicroUsd)
})

t.test('if an organization buys one number twice at once, the number is stored once', async (t) => {
  const { numbers, processes, tenant, creditOf } = await setUp(t, cluster, 2)
  const local = await tenant(10 * usdMicro)
  const first = await numbers.purchase(local, { e164: '+12125550113' })
  await numbers.release(local, first.id)
  const order = { status: 'pending' as const, id: null, resourceId: null }
  const inserted = processes.map(({ store }, at) =>
    store.numberOrders.insert(
      { ...first, id: `pn_012345678901234567890${at}`, order },
      first.createdAtMs + 30_000,
      1_000,
    ),
  )
  t.same(
    (await Promise.all(inserted)).sort((a, b) => String(a).localeCompare(String(b))),
    ['exists', 'inserted'],
  )
  t.equal(await creditOf(local.organizationId), 10 * usdMicro - 2 * atOnceMicroUsd)
})
