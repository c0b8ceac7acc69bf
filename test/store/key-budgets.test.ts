/**
 * Budgets of API keys in the store: granted requests, spent amounts and reported events, across processes and periods.
 */
import t from 'tap'
import { budgetOf, type KeyBudget } from '../../domain/billing/budget.ts'
import type { Caller, KeyPolicy } from '../../domain/records/organization.ts'
import type { Store } from '../../store/store.ts'
import { caller } from '../domain/fakes.ts'
import { randomOf } from '../platform/spending.ts'
import { seed } from '../random.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'
import { creditOf } from './credit.ts'
import { choiceIn, ledgerRow, settled } from './settlement.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

let requests = 0
const newRequest = () => `req_b${++requests}`

async function keyWith(store: Store, budget: KeyPolicy['budget'], credit = 1_000_000) {
  const { id } = await organization(store, `of ${requests++}`, credit)
  const policy = budget ? { budget } : {}
  const wanted = {
    organizationId: id,
    name: 'shop',
    scopes: ['router' as const],
    test: false,
    policy,
    expiresAtMs: null,
  }
  const made = await store.keys.create(wanted)
  if (!made) throw new Error('no key')
  const found = (await store.keys.verify(made.secret)) as Caller
  return { id, keyId: made.key.id, caller: found }
}

function settle(
  store: Store,
  id: string,
  requestId: string,
  cost: number | null,
  budget?: KeyBudget | null,
  keyId = 'key_1',
) {
  const row = ledgerRow(id, requestId, { costMicroUsd: cost, keyId })
  const more = budget ? { budget } : {}
  return settled(store, { row, choice: choiceIn('en'), status: 'succeeded', reservedMicroUsd: 0, ...more })
}

const spent = async (store: Store, id: string) => (await store.keyBudgets.read(id))[0]

t.test('100 simultaneous requests over two processes never exceed the budget of their key', async (t) => {
  const url = await cluster.database()
  const [store, other] = await Promise.all([cluster.store(t, url), cluster.store(t, url)])
  const { id, caller } = await keyWith(store, { microUsd: 1_050, period: 'month' })
  const budget = budgetOf(caller, Date.now())
  const asks = Array.from({ length: 100 }, (_, index) =>
    (index % 2 ? store : other).credit.reserve(id, newRequest(), 100, budget),
  )
  const answers = await Promise.all(asks)
  t.equal(answers.filter((refusal) => refusal === null).length, 10)
  t.equal(answers.filter((refusal) => refusal === 'budget').length, 90)
  t.match(await spent(store, id), { spentMicroUsd: 0, reservedMicroUsd: 1_000 })
  t.equal(await creditOf(store, id), 999_000, 'a refused request has taken no credit')
  t.equal(await store.credit.reserve(id, newRequest(), 50, budget), null, 'a smaller one is still covered')
})

t.test(
  "random requests of two processes stay within the key's budget, and the ledger equals the amount spent",
  async (t) => {
    const url = await cluster.database()
    const stores = await Promise.all([cluster.store(t, url), cluster.store(t, url)])
    const [store] = stores as [Store, Store]
    t.comment(`seed ${seed}`)
    const random = randomOf(seed)
    const { id } = await organization(store, 'busy', 60_000)
    const budgets = [40_000, 9_000, null].map((microUsd, index) =>
      microUsd === null ? null : { keyId: `key_${index}`, period: '2026-11', microUsd },
    )
    const paid = new Map<string, number>()
    let refused = 0
    const sql = cluster.sql(t, url)
    const worker = async (store: Store) => {
      for (let left = 60; left > 0; left--) {
        const budget = random.pick(budgets) ?? null
        const requestId = newRequest()
        const worst = random.upTo(900) + 1
        if ((await store.credit.reserve(id, requestId, worst, budget)) !== null) {
          refused += 1
          continue
        }
        const slices = random.upTo(2)
        let reserved = worst
        for (let each = 0; each < slices; each++)
          if ((await store.credit.reserve(id, requestId, 50, budget)) === null) reserved += 50
        if (random.upTo(9) === 0) {
          await store.credit.cancel(id, requestId, reserved)
          continue
        }
        const cost = random.pick([null, random.upTo(reserved)])
        await settle(store, id, requestId, cost, budget)
        if (budget) paid.set(budget.keyId, (paid.get(budget.keyId) ?? 0) + (cost ?? 0))
        const rows = await sql<{ keyId: string; held: number }[]>`
        select key_id as "keyId", (spent_micro_usd + reserved_micro_usd)::int as held from key_budgets`
        for (const { keyId, held } of rows) {
          const most = budgets.find((each) => each?.keyId === keyId)?.microUsd ?? 0
          if (held < 0 || held > most) t.fail(`${keyId} holds ${held} of ${most}`)
        }
      }
    }
    await Promise.all(Array.from({ length: 10 }, (_, index) => worker(stores[index % 2] as Store)))
    t.ok(refused > 0, `${refused} of 600 were refused`)
    const rows = await sql`
    select key_id as "keyId", spent_micro_usd::int as spent, reserved_micro_usd::int as reserved
    from key_budgets order by key_id`
    t.same(
      rows,
      [...paid].sort().map(([keyId, spent]) => ({ keyId, spent, reserved: 0 })),
    )
    t.same(await sql`select * from reservations`, [])
    await creditOf(store, id)
  },
)

t.test("a budget's period ends at midnight UTC, and a request counts for the period of its start", async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock })
  const sql = cluster.sql(t, url)
  for (const [period, end, names] of [
    ['day', '2026-12-01T00:00:00Z', ['2026-11-30', '2026-12-01']],
    ['month', '2027-01-01T00:00:00Z', ['2026-12', '2027-01']],
    ['total', '2027-02-01T00:00:00Z', ['total', 'total']],
  ] as const) {
    const { id, caller, keyId } = await keyWith(store, { microUsd: 1_000, period })
    const endMs = Date.parse(end)
    const [last, first] = [budgetOf(caller, endMs - 1), budgetOf(caller, endMs)]
    t.same([last?.period, first?.period], names)
    const [long, next] = [newRequest(), newRequest()]
    t.equal(await store.credit.reserve(id, long, 900, last), null)
    t.equal(await store.credit.reserve(id, next, 200, last), 'budget')
    t.equal(await store.credit.reserve(id, next, 200, first), period === 'total' ? 'budget' : null)
    await settle(store, id, long, 800, last, keyId)
    const rows = await sql`
      select period, spent_micro_usd::int as spent, reserved_micro_usd::int as reserved from key_budgets
      where key_id = ${keyId} order by period`
    const settledRow = { period: names[0], spent: 800, reserved: 0 }
    t.same(rows, period === 'total' ? [settledRow] : [settledRow, { period: names[1], spent: 0, reserved: 200 }])
  }
})

t.test('a budget event is sent once for each API key and period, even with two processes', async (t) => {
  const url = await cluster.database()
  const reported: object[] = []
  const log = { info: () => {}, error: () => {}, warn: (fields: object) => void reported.push(fields) }
  const clocks = [storeClock(), storeClock()]
  const stores = await Promise.all(clocks.map((clock) => cluster.store(t, url, { log, clock })))
  const [store, other] = stores as [Store, Store]
  const { id, keyId, caller } = await keyWith(store, { microUsd: 1_000, period: 'total' })
  const budget = budgetOf(caller, 0)
  const spend = async (store: Store, cost: number) => {
    const requestId = newRequest()
    t.equal(await store.credit.reserve(id, requestId, cost, budget), null)
    await settle(store, id, requestId, cost, budget, keyId)
  }
  const reportAll = () => Promise.all(clocks.map((clock) => clock.leap(5_000)))
  await spend(store, 799)
  await reportAll()
  t.same(reported, [])
  await spend(other, 1)
  await reportAll()
  await reportAll()
  const events = () => reported.filter((fields) => 'event' in fields)
  t.same(events(), [{ organizationId: id, keyId, period: 'total', event: 'warned' }])
  t.equal(await store.credit.reserve(id, newRequest(), 201, budget), 'budget', 'the first refusal')
  await spend(store, 200)
  await reportAll()
  t.same(events().slice(1), [{ organizationId: id, keyId, period: 'total', event: 'exhausted' }])
  t.equal(store.budgetEvents.reported().exhausted + other.budgetEvents.reported().exhausted, 1)
  t.match(await spent(store, id), { spentMicroUsd: 1_000, warnedAtMs: Number, exhaustedAtMs: Number })
  t.equal(await store.credit.refusal(caller), 'budget')
})

t.test("a dead process's reservations are released to the budget", async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock, serves: false })
  const { id, caller } = await keyWith(store, { microUsd: 500, period: 'total' })
  const budget = budgetOf(caller, clock.nowMs())
  t.equal(await store.credit.reserve(id, newRequest(), 500, budget), null)
  t.equal(await store.credit.refusal(caller), 'budget')
  await store.credit.sweep()
  t.equal(await store.credit.refusal(caller), null)
  t.match(await spent(store, id), { spentMicroUsd: 0, reservedMicroUsd: 0 })
})

t.test('a new daily or monthly budget counts its whole period, and a new total budget starts at 0', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const { id, keyId } = await keyWith(store, undefined)
  const row = (startedAtMs: number, costMicroUsd: number) => ({
    row: ledgerRow(id, newRequest(), { keyId, costMicroUsd, startedAtMs }),
    choice: choiceIn('en'),
    status: 'succeeded' as const,
    reservedMicroUsd: 0,
  })
  await settled(store, row(Date.now(), 70))
  await settled(store, row(Date.now() - 32 * 86_400_000, 500))
  for (const [period, spentMicroUsd] of [
    ['day', 70],
    ['month', 70],
    ['total', 0],
  ] as const) {
    t.equal(await store.keyBudgets.set(id, keyId, { microUsd: 100, period }), true)
    t.match(await spent(store, id), { keyId, name: 'shop', budget: { microUsd: 100, period }, spentMicroUsd })
  }
  t.equal(await store.keyBudgets.set(id, keyId, null), true)
  t.same(await store.keyBudgets.read(id), [])
  t.equal(await store.keyBudgets.set(id, 'key_unknown', null), false)
  t.equal(await store.keyBudgets.set('org_other', keyId, { microUsd: 1, period: 'day' }), false, 'nor of another')
})

t.test('an API key without a budget reserves credit as usual, even in a batch with a key with a budget', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const { id, caller: budgeted } = await keyWith(store, { microUsd: 10, period: 'day' }, 100)
  const budget = budgetOf(budgeted, Date.now())
  t.equal(budgetOf(caller(), Date.now()), null)
  const asks = [null, budget, null, budget].map((each) => store.credit.reserve(id, newRequest(), 10, each))
  t.same(await Promise.all(asks), [null, null, null, 'budget'])
  t.equal(await store.credit.reserve(id, newRequest(), 71, null), 'credit')
  t.equal(await store.credit.reserve('org_unknown', newRequest(), 1, budget), 'credit')
  t.equal(await creditOf(store, id), 70)
})
