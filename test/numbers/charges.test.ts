/**
 * Tests on a test clock how the months of a number are charged, also by several processes at once. Without credit a
 * number is first overdue and then suspended, and after a payment it works again.
 */
import t from 'tap'
import { chargeEveryMs } from '../../domain/numbers/charges.ts'
import { setupStatusOf } from '../../domain/numbers/setup-status.ts'
import { TestCluster } from '../store/cluster.ts'
import { atOnceMicroUsd, setUp } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const usdMicro = 1_000_000
const dayMs = 86_400_000

/** Sets up an organization with a newly bought number, and with this credit left. */
async function withNumber(creditMicroUsd: number, processes = 1) {
  const world = await setUp(t, cluster, processes)
  const local = await world.tenant(atOnceMicroUsd + creditMicroUsd)
  const { id, nextChargeAtMs } = await world.numbers.purchase(local, { e164: '+12125550120' })
  return {
    ...world,
    local,
    id,
    row: () => world.numbers.get(local, id),
    credit: () => world.creditOf(local.organizationId),
    /** Moves the test clock to this time. */
    to: (ms: number | null) => world.clock.advance((ms ?? 0) - world.clock.nowMs()),
    dueMs: nextChargeAtMs ?? 0,
  }
}

t.test("a number's monthly price is charged once, when the month begins", async (t) => {
  const { to, dueMs, charge, row, credit } = await withNumber(5 * usdMicro)
  await to(dueMs - 1)
  await charge()
  t.equal(await credit(), 5 * usdMicro)
  await to(dueMs)
  await charge()
  await charge()
  t.equal(await credit(), 4 * usdMicro)
  t.match(await row(), { lastChargedAtMs: dueMs, nextChargeAtMs: Date.parse('2024-01-14T22:13:20.000Z') })
})

t.test("if several processes try to charge a number's month, only one process charges it", async (t) => {
  const { to, dueMs, processes, credit } = await withNumber(5 * usdMicro, 3)
  await to(dueMs)
  await Promise.all(processes.flatMap(({ charge }) => [charge(), charge()]))
  t.equal(await credit(), 4 * usdMicro)
})

t.test('a number is also charged for months in which no server ran', async (t) => {
  const { to, dueMs, charge, row, credit } = await withNumber(5 * usdMicro)
  await to(dueMs + 40 * dayMs)
  await charge()
  await charge()
  await charge()
  t.equal(await credit(), 3 * usdMicro)
  t.equal((await row()).nextChargeAtMs, Date.parse('2024-02-14T22:13:20.000Z'))
})

t.test('without credit a number is overdue but works, and after 7 days it is suspended but kept', async (t) => {
  const { to, dueMs, charge, row, credit, store, local } = await withNumber(usdMicro - 1)
  await to(dueMs)
  await charge()
  t.match(setupStatusOf(await row(), true), { status: 'ready', outboundReady: true, issues: ['payment_overdue'] })
  t.match(await store.phoneNumbers.outboundFor(local, null, null, () => true), { e164: '+12125550120' })
  await to(dueMs + 7 * dayMs - 1)
  await charge()
  t.match(setupStatusOf(await row(), true), { status: 'ready' })
  await to(dueMs + 7 * dayMs)
  await charge()
  t.match(setupStatusOf(await row(), true), { status: 'suspended', outboundReady: false, issues: ['payment_overdue'] })
  t.equal((await row()).suspendedAtMs, dueMs + 7 * dayMs)
  t.equal(await store.phoneNumbers.outboundFor(local, null, '+12125550120', () => true), 'not_ready')
  await to(dueMs + 400 * dayMs)
  await charge()
  t.match(await row(), { suspendedAtMs: dueMs + 7 * dayMs, lastChargedAtMs: Date.parse('2023-11-14T22:13:20.000Z') })
  t.equal(await credit(), usdMicro - 1)
})

t.test('a suspended number is charged within a minute of new credit, and is usable again', async (t) => {
  const { to, dueMs, charge, row, credit, store, local } = await withNumber(0)
  for (const day of [0, 7]) {
    await to(dueMs + day * dayMs)
    await charge()
  }
  t.ok(chargeEveryMs <= 60_000)
  await to(dueMs + 70 * dayMs)
  await store.organizations.addCredit(local.organizationId, 5 * usdMicro)
  await charge()
  const lifted = await row()
  t.match(setupStatusOf(lifted, true), { status: 'ready', outboundReady: true, issues: [] })
  t.match(lifted, { suspendedAtMs: null, lastChargedAtMs: dueMs + 70 * dayMs })
  t.equal(lifted.nextChargeAtMs, Date.parse('2024-03-14T22:13:20.000Z'), 'the months of the suspension are free')
  t.equal(await credit(), 4 * usdMicro)
})

t.test('test numbers and numbers without a price are never charged', async (t) => {
  const { charge, clock, numbers, tenant, creditOf } = await setUp(t, cluster)
  const inTest = await tenant(5 * usdMicro, { test: true })
  await numbers.purchase(inTest, { e164: '+12125550121' })
  await clock.advance(400 * dayMs)
  await charge()
  t.equal(await creditOf(inTest.organizationId), 5 * usdMicro)
  t.match(await numbers.list(inTest), [{ overdueSinceMs: null, suspendedAtMs: null }])
})
