/**
 * Values belong in parameters. The driver and Postgres keep each prepared statement until its connection ends, and
 * Postgres plans each new text. If a batch has a time in its text, memory grows with every batch.
 */
import t from 'tap'
import { systemIds } from '../../runtime/timing/clock.ts'
import { connectOnce, type Sql, type Tx } from '../../store/postgres/connect.ts'
import { preparedMax } from '../../store/postgres/driver.ts'
import type { Store } from '../../store/store.ts'
import { newCall } from '../calls/call.ts'
import { DatabaseRelay } from '../process/database-relay.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'
import { keyUse } from './key-use.ts'
import { choiceIn, ledgerRow, settled } from './settlement.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const dayMs = 86_400_000
/** The store sends this text if Postgres takes long to answer, as it does on a busy machine. */
const probe = 'select 1'

t.test('requests and calls at different times and costs run the same prepared statements', async (t) => {
  const prepared = new Set<string>()
  const relay = await DatabaseRelay.start(await cluster.database(), (text) => prepared.add(text))
  t.teardown(() => relay.close())
  const clock = storeClock()
  const store = await cluster.store(t, relay.url, { clock })
  const { id } = await organization(store, 'a', 1_000_000)
  let rounds = 0
  const round = async () => {
    clock.setMs += dayMs + rounds
    rounds += 1
    await paidRequest(store, id, rounds)
    await chargedLeg(store, id, rounds, clock.nowMs())
  }
  // The store's own regular work begins during the first rounds.
  for (let warm = 0; warm < 5; warm++) await round()
  const before = new Set(prepared)
  t.ok(before.size > 10, `${before.size} statements are prepared`)
  for (let more = 0; more < 5; more++) await round()
  t.same(
    [...prepared].filter((text) => text !== probe && !before.has(text)),
    [],
  )
})

t.test('a connection keeps a bounded number of prepared statements, and runs further texts unprepared', async (t) => {
  const prepared: string[] = []
  const relay = await DatabaseRelay.start(await cluster.database(), (text) => prepared.push(text))
  t.teardown(() => relay.close())
  const sql = connectOnce({ databaseUrl: relay.url }, 'many statements')
  t.teardown(() => sql.end())
  const valueOf = async (tx: Sql | Tx, text: number, value: number | null) => {
    const [row] = await tx<{ value: number | null }[]>`select ${value}::int as value, 1 as ${tx(`text_${text}`)}`
    return row?.value
  }
  for (let each = 1; each <= preparedMax; each++)
    if ((await valueOf(sql, each, each)) !== each) t.fail(`the answer to text ${each} is another`)
  t.equal(prepared.length, preparedMax)

  const further = Array.from({ length: 20 }, (_, index) => preparedMax + index + 1)
  t.same(await Promise.all(further.map((each) => valueOf(sql, each, each))), further, 'at the same time')
  t.same(
    await sql.begin((tx) => Promise.all(further.map((each) => valueOf(tx, each, each)))),
    further,
    'and in one transaction',
  )
  t.equal(await valueOf(sql, preparedMax + 1, null), null)
  t.equal(await valueOf(sql, 7, 8), 8)
  t.equal(prepared.length, preparedMax, 'an earlier text stays prepared, and a further text is not prepared')
})

t.test('savepoints of one depth have one name, and a failure takes back only its own changes', async (t) => {
  const prepared = new Set<string>()
  const relay = await DatabaseRelay.start(await cluster.database(), (text) => prepared.add(text))
  t.teardown(() => relay.close())
  const sql = connectOnce({ databaseUrl: relay.url }, 'savepoints')
  t.teardown(() => sql.end())
  await sql`create temporary table kept (number int)`
  await sql.begin(async (tx) => {
    for (let each = 1; each <= 6; each++)
      await tx
        .savepoint(async (inner) => {
          await inner`insert into kept values (${each})`
          if (each === 5) await inner.savepoint((innermost) => innermost`insert into kept values (${50})`)
          if (each % 2 === 0 || each === 5) throw new Error('refused')
        })
        .catch(() => {})
  })
  t.same(
    (await sql<{ number: number }[]>`select number from kept order by number`).map(({ number }) => number),
    [1, 3],
    'also what an inner savepoint had kept is taken back',
  )
  t.equal([...prepared].filter((text) => text.startsWith('savepoint')).length, 2)
})

/** Reserves and settles a request's cost, and gives another reservation back. */
async function paidRequest(store: Store, id: string, microUsd: number): Promise<void> {
  const budget = { keyId: 'key_1', period: `2026-${microUsd}`, microUsd: 1_000_000 }
  const use = keyUse(id, `key ${microUsd}`)
  await store.idempotency.admit(use)
  await store.credit.reserve(id, use.requestId, 900 + microUsd, budget)
  await store.credit.reserve(id, `${use.requestId} cancelled`, 10 + microUsd, budget)
  await store.credit.cancel(id, `${use.requestId} cancelled`, 10 + microUsd)
  await store.idempotency.dispatch(use)
  const row = ledgerRow(id, use.requestId, { costMicroUsd: microUsd })
  await settled(store, { row, choice: choiceIn('en'), use, status: 'succeeded', reservedMicroUsd: 900, budget })
  await store.credit.sweep()
}

/** Debits the first minute of a leg, and ends the leg. */
async function chargedLeg(store: Store, organizationId: string, microUsdPerMinute: number, nowMs: number) {
  const call = newCall(organizationId, { ownerId: store.instanceId })
  await store.calls.insert(call, {})
  const times = { createdAtMs: nowMs - 120_000, answeredAtMs: nowMs - 90_000, endedAtMs: null }
  const way = { party: 'caller', direction: 'outbound', line: 'carrier' } as const
  const id = systemIds.leg()
  const of = { organizationId, test: false, id, callId: call.id, carrierLegId: null }
  await store.legs.insert({ ...of, ...way, ...times, microUsdPerMinute })
  await store.legCharges.charge(10)
  await store.legs.ended({ organizationId, test: false, id }, nowMs)
}
