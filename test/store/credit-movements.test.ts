/** Tests credit movements: their sum equals the credit plus the reserved credit. */
import t from 'tap'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'
import { creditOf } from './credit.ts'
import { choiceIn, ledgerRow, settled } from './settlement.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const usdMicro = 1_000_000

t.test('the operator adds, subtracts and sets credit', async (t) => {
  // The clock stands still, so movements are not ordered by the clock.
  const store = await cluster.store(t, await cluster.database(), { clock: storeClock() })
  const { id } = await organization(store, 'a', 5 * usdMicro)
  await store.organizations.addCredit(id, usdMicro)
  await store.organizations.addCredit(id, -250_000)
  await store.organizations.change(id, { creditMicroUsd: 3 * usdMicro, name: 'b' })
  await store.organizations.change(id, { creditMicroUsd: 3 * usdMicro })
  t.equal(await creditOf(store, id), 3 * usdMicro)
  const account = await store.creditAccounts.read(id, 100, null)
  const amounts = account?.movements.map(({ kind, microUsd, day }) => ({ kind, microUsd, day }))
  const given = (microUsd: number) => ({ kind: 'operator', microUsd, day: null })
  t.same(
    amounts,
    [given(-2_750_000), given(-250_000), given(usdMicro), given(5 * usdMicro)],
    'newest first, and a change of 0 is no movement',
  )
  t.equal(await store.creditAccounts.read('org_nobody', 1, null), null)
})

t.test("the costs of a day's requests are one credit movement, without free requests", async (t) => {
  const clock = storeClock()
  const url = await cluster.database()
  const [store, other] = [await cluster.store(t, url, { clock }), await cluster.store(t, url, { clock })]
  const { id } = await organization(store, 'a', 5 * usdMicro)
  const choice = choiceIn('en')
  const settle = (from: typeof store, requestId: string, costMicroUsd: number | null) =>
    settled(from, {
      row: ledgerRow(id, requestId, { costMicroUsd }),
      choice,
      status: 'succeeded',
      reservedMicroUsd: 0,
    })
  const kinds = async () =>
    (await store.creditAccounts.read(id, 100, null))?.movements.map(({ id, microUsd }) => [id, microUsd])
  await store.credit.reserve(id, 'req_1', 900)
  t.match(await store.creditAccounts.read(id, 1, null), { creditMicroUsd: 4_999_100, reservedMicroUsd: 900 })
  t.equal(await creditOf(store, id), 4_999_100)
  await settle(store, 'req_0', 0)
  await settle(store, 'req_unknown', null)
  t.equal((await kinds())?.length, 1)
  const today = new Date(clock.nowMs()).toISOString().slice(0, 10)
  // The clock moves by 1 ms, because the order of a movement and a day's sum would be unknown if both had the same
  // time.
  clock.setMs += 1
  // Both processes write to the same day's row at once.
  await Promise.all([settle(store, 'req_1', 700), settle(other, 'req_2', 40), settle(other, 'req_2', 40)])
  t.equal(await creditOf(store, id), 5 * usdMicro - 740, 'a settlement that is repeated costs once')
  t.same((await kinds())?.[0], [`credit_requests_${today}`, -740])
  clock.setMs += 86_400_000
  await settle(store, 'req_3', 1)
  const tomorrow = new Date(clock.nowMs()).toISOString().slice(0, 10)
  t.same((await kinds())?.slice(0, 2), [
    [`credit_requests_${tomorrow}`, -1],
    [`credit_requests_${today}`, -740],
  ])
})
