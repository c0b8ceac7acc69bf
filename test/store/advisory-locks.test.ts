import t from 'tap'
import { locks, lockTenant, tenantLocks } from '../../store/postgres/advisory-locks.ts'
import { TestCluster } from './cluster.ts'

t.test('no two advisory locks have the same number', (t) => {
  for (const table of [locks, tenantLocks]) {
    const numbers = Object.values(table)
    t.equal(new Set(numbers).size, numbers.length)
  }
  t.end()
})

t.test(
  'two transactions of a tenant hold different locks at once, and wait for each other only for the same lock',
  async (t) => {
    const cluster = await TestCluster.start()
    t.teardown(() => cluster.stop())
    const url = await cluster.database()
    const [sql, other] = [cluster.sql(t, url), cluster.sql(t, url)]
    const tenant = { organizationId: 'org_a', test: false }
    await sql.begin(async (first) => {
      await lockTenant(first, tenant, 'endpoints')
      await other.begin(async (second) => {
        await second`set local lock_timeout = '1s'`
        await lockTenant(second, tenant, 'rmsgPool')
        await lockTenant(second, tenant, 'agentNames')
        await lockTenant(second, { ...tenant, test: true }, 'endpoints')
        const blocked = second.savepoint((inner) => lockTenant(inner, tenant, 'endpoints'))
        await t.rejects(blocked, { code: '55P03' })
      })
    })
  },
)
