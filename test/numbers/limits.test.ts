/** An organization's phone numbers have a limit, separate for live and test numbers. */
import t from 'tap'
import type { Tenant } from '../../domain/records/organization.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { TestCluster } from '../store/cluster.ts'
import { faultOf, setUp } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const numbersMax = 1_000
const limitReached = { kind: 'limit_reached', resource: 'phone number', limit: numbersMax }

async function withTrunk(test: Parameters<typeof setUp>[0], carrierCalls: string[] = []) {
  const parts = await setUp(test, cluster, 1, {
    offerOf: (e164) => {
      carrierCalls.push(e164)
      return Promise.resolve({
        e164,
        features: [],
        region: { state: null, locality: null, rateCenter: null },
        upfrontMicroUsd: 1,
        monthlyMicroUsd: 1,
      })
    },
  })
  const tenant = await parts.tenant(100)
  const connectionOf = async ({ organizationId, test }: Tenant) => {
    const id = systemIds.sipConnection()
    await parts.sql`
      insert into sip_connections (organization_id, test, id, name, inbound_addresses, inbound_ranges, status, created_at, updated_at)
      values (${organizationId}, ${test}, ${id}, 'Trunk', '[]', '{}', 'ready', now(), now())`
    return id
  }
  const fill = ({ organizationId, test }: Tenant, count: number) => parts.sql`
    insert into phone_numbers (organization_id, test, id, e164, source, direction, created_at, updated_at)
    select ${organizationId}, ${test}, 'pn_' || lpad(n::text, 22, '0'), '+1303555' || lpad(n::text, 4, '0'), 'managed', 'outbound',
      now(), now() from generate_series(1, ${count}) n`
  return { ...parts, local: tenant, connectionOf, fill }
}

t.test('with 1,000 numbers no further number is bought or imported, and the carrier is not asked', async (t) => {
  const asked: string[] = []
  const { numbers, local, connectionOf, fill, creditOf } = await withTrunk(t, asked)
  const sipConnectionInstallationId = await connectionOf(local)
  const importing = (e164: string) => numbers.import(local, { e164, sipConnectionInstallationId })
  await fill(local, numbersMax - 1)
  const last = await importing('+12125550101')
  t.same(await faultOf(importing('+12125550102')), limitReached)
  t.same(await faultOf(importing('+12125550101')), { kind: 'number_exists' }, 'which says more than the limit')
  t.same(await faultOf(numbers.purchase(local, { e164: '+12125550103' })), limitReached)
  t.same(asked, [])
  t.equal(await creditOf(local.organizationId), 100)
  t.equal((await numbers.list(local)).length, numbersMax)
  await numbers.release(local, last.id)
  t.match(await numbers.purchase(local, { e164: '+12125550103' }), { order: { status: 'done' } })
})

t.test('simultaneous purchases and imports do not pass the limit', async (t) => {
  const { numbers, local, connectionOf, fill } = await withTrunk(t)
  const sipConnectionInstallationId = await connectionOf(local)
  await fill(local, numbersMax - 1)
  const outcomes = await Promise.all([
    ...['+12125550104', '+12125550105'].map((e164) => faultOf(numbers.purchase(local, { e164 }))),
    ...['+12125550106', '+12125550107'].map((e164) =>
      faultOf(numbers.import(local, { e164, sipConnectionInstallationId })),
    ),
  ])
  t.equal(outcomes.filter((fault) => fault === null).length, 1)
  for (const fault of outcomes) if (fault !== null) t.same(fault, limitReached)
  t.equal((await numbers.list(local)).length, numbersMax)
})

t.test('live and test numbers of an organization, and two organizations, have separate limits', async (t) => {
  const { numbers, local, tenant, connectionOf, fill } = await withTrunk(t)
  await fill(local, numbersMax)
  for (const other of [{ ...local, test: true }, await tenant(100)]) {
    const sipConnectionInstallationId = await connectionOf(other)
    t.match(await numbers.import(other, { e164: '+12125550108', sipConnectionInstallationId }), other)
  }
})
