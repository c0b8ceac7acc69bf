/** Tests how numbers are released to the carrier. */
import t from 'tap'
import { NumberCarrierError } from '../../domain/ports/number-carrier.ts'
import { type SmsRegistry, SmsRegistryError } from '../../domain/ports/sms-registry.ts'
import { TestCluster } from '../store/cluster.ts'
import { wholeProcess } from '../time/quiet.ts'
import { faultOf, type Process, setUp } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}

t.test('the assignment to a campaign ends before the number goes back to the carrier', async (t) => {
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

t.test('simultaneous requests to release a number release the number once', async (t) => {
  const { numbers, tenant } = await setUp(t, cluster)
  const acme = await tenant(100_000_000)
  const { id } = await numbers.purchase(acme, { e164: '+12125550110' })
  const faults = await Promise.all([1, 2, 3, 4].map(() => faultOf(numbers.release(acme, id))))
  t.equal(faults.filter((fault) => fault === null).length, 1)
  t.equal(faults.filter((fault) => fault?.kind === 'not_found').length, 3)
})

t.test('a late release does not release a number that another organization has bought since', async (t) => {
  const bought = gate()
  let asked = 0
  const { processes, simulated, tenant } = await setUp(t, cluster, 2, {
    async release(resourceId) {
      asked += 1
      if (asked > 1) await bought.opened
      return simulated.release(resourceId)
    },
  })
  const [one, two] = processes as [Process, Process]
  const [acme, other] = [await tenant(100_000_000), await tenant(100_000_000)]
  const { id } = await one.numbers.purchase(acme, { e164: '+12125550110' })
  const releases = [one, two].map(({ numbers }) => numbers.release(acme, id))
  await Promise.any(releases)
  const { id: newId } = await two.numbers.purchase(other, { e164: '+12125550110' })
  bought.open()
  const faults = await Promise.all(releases.map(faultOf))
  t.same(
    faults.filter((fault) => fault !== null),
    [{ kind: 'not_found' }],
  )
  t.equal(await simulated.offerOf('+12125550110'), null, 'the carrier still has it for the other organization')
  t.match(await two.numbers.get(other, newId), { order: { status: 'done' } })
  t.equal(asked, 1)
})

t.test("an organization that releases many numbers delays no other organization's releases", async (t) => {
  const [held, asked] = [gate(), gate()]
  const order: string[] = []
  const { numbers, simulated, tenant } = await setUp(t, cluster, 1, {
    async release(resourceId) {
      if (order.push(resourceId) === 1) asked.open()
      await held.opened
      return simulated.release(resourceId)
    },
  })
  const [acme, other] = [await tenant(100_000_000), await tenant(100_000_000)]
  const own = ['+12125550110', '+12125550111', '+12125550113']
  const ids: string[] = []
  for (const e164 of own) ids.push((await numbers.purchase(acme, { e164 })).id)
  const { id, order: bought } = await numbers.purchase(other, { e164: '+12125550112' })
  const releases = ids.map((each) => numbers.release(acme, each))
  await asked.opened
  const released = numbers.release(other, id)
  await wholeProcess.settled()
  held.open()
  await Promise.all([...releases, released])
  t.equal(order.indexOf(String(bought.resourceId)), 1, 'one number of the other organization is before it')
  t.same(await numbers.list(acme), [])
})

t.test('after the carrier has refused a release, the next waiting release is tried', async (t) => {
  let asked = 0
  const { processes, simulated, tenant } = await setUp(t, cluster, 2, {
    release(resourceId) {
      asked += 1
      return asked === 1 ? Promise.reject(new NumberCarrierError('failed')) : simulated.release(resourceId)
    },
  })
  const [one, two] = processes as [Process, Process]
  const acme = await tenant(100_000_000)
  const { id } = await one.numbers.purchase(acme, { e164: '+12125550110' })
  const faults = await Promise.all([one, two].map(({ numbers }) => faultOf(numbers.release(acme, id))))
  t.same(
    faults.toSorted((a, b) => Number(a === null) - Number(b === null)),
    [{ kind: 'carrier_number_failed' }, null],
  )
  t.same(await one.numbers.list(acme), [])
})

t.test('a number can be released only once its order is done', async (t) => {
  const [ordered, held] = [gate(), gate()]
  const { processes, simulated, tenant } = await setUp(t, cluster, 2, {
    async order(e164, reference) {
      ordered.open()
      await held.opened
      return simulated.order(e164, reference)
    },
  })
  const [one, two] = processes as [Process, Process]
  const acme = await tenant(100_000_000)
  const purchase = one.numbers.purchase(acme, { e164: '+12125550110' })
  await ordered.opened
  const [{ id } = { id: '' }] = await two.numbers.list(acme)
  t.same(await faultOf(two.numbers.release(acme, id)), { kind: 'order_pending' })
  held.open()
  await purchase
  t.equal(await faultOf(two.numbers.release(acme, id)), null)
  t.type(await simulated.offerOf('+12125550110'), 'object', 'the number is for sale again')
})
