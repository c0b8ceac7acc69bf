/** Numbers that are given back. */
import t from 'tap'
import { type SmsRegistry, SmsRegistryError } from '../../domain/ports/sms-registry.ts'
import { TestCluster } from '../store/cluster.ts'
import { faultOf, setUp } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('the assignment to a campaign ends before the carrier gets the number back', async (t) => {
  const asked: string[] = []
  let isRefused = true
  const registry: Pick<SmsRegistry, 'unassign'> = {
    unassign(e164) {
      asked.push(`unassign ${e164}`)
      return isRefused ? Promise.reject(new SmsRegistryError([])) : Promise.resolve(null)
    },
  }
  const { numbers, simulated, store, sql, tenant } = await setUp(
    t,
    cluster,
    1,
    {
      release(resourceId) {
        asked.push('release')
        return simulated.release(resourceId)
      },
    },
    {},
    { of: () => registry as SmsRegistry },
  )
  const acme = await tenant(100_000_000)
  const [assigned, bare] = [
    await numbers.purchase(acme, { e164: '+12125550110' }),
    await numbers.purchase(acme, { e164: '+12125550111' }),
  ]
  await sql`
    update phone_numbers set sms_campaign_id = 'c', sms_assignment_status = 'ASSIGNED', sms_assigned_to = 'own',
      sms_assignment_updated_at = now()
    where id = ${assigned.id}`
  t.same(await faultOf(numbers.release(acme, assigned.id)), { kind: 'carrier_number_failed' })
  t.same(asked, ['unassign +12125550110'], 'a number that stays in its campaign is kept')
  t.ok(await store.ownedNumbers.find(acme, assigned.id))
  isRefused = false
  await numbers.release(acme, assigned.id)
  t.same(asked.slice(1), ['unassign +12125550110', 'release'])
  t.equal(await store.ownedNumbers.find(acme, assigned.id), null)
  await numbers.release(acme, bare.id)
  t.same(asked.slice(3), ['release'], 'a number without a campaign')
})

t.test('a number that is given back several times at once is given back once', async (t) => {
  const { numbers, tenant } = await setUp(t, cluster)
  const acme = await tenant(100_000_000)
  const { id } = await numbers.purchase(acme, { e164: '+12125550110' })
  const faults = await Promise.all([1, 2, 3, 4].map(() => faultOf(numbers.release(acme, id))))
  t.equal(faults.filter((fault) => fault === null).length, 1)
  t.equal(faults.filter((fault) => fault?.kind === 'not_found').length, 3)
})
