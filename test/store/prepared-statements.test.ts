/**
 * Values belong in parameters. The driver and Postgres keep each prepared statement until its connection ends, and
 * Postgres plans each new text. If a batch has a time in its text, memory grows with every batch.
 */
import t from 'tap'
import { systemIds } from '../../runtime/timing/clock.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
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

t.test('requests and calls at different times and costs run the same prepared statements', async (t) => {
  const relay = await DatabaseRelay.start(await cluster.database())
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
  // The driver prepares a statement once on each of its connections.
  for (let warm = 0; warm < 5; warm++) await round()
  const before = new Set(relay.prepared)
  t.ok(before.size > 10, `${before.size} statements are prepared`)
  for (let more = 0; more < 5; more++) await round()
  t.same(
    [...relay.prepared].filter((text) => !before.has(text)),
    [],
  )
})

t.test('a connection keeps a bounded number of prepared statements and serves further texts without', async (t) => {
  const relay = await DatabaseRelay.start(await cluster.database())
  t.teardown(() => relay.close())
  const sql = connectOnce({ databaseUrl: relay.url }, 'many statements')
  t.teardown(() => sql.end())
  const texts = preparedMax + 20
  for (let each = 1; each <= texts; each++) {
    const [row] = await sql<{ value: number }[]>`select ${each}::int as value, 1 as ${sql(`text_${each}`)}`
    if (row?.value !== each) t.fail(`text ${each} has the answer ${row?.value}`)
  }
  t.equal(relay.prepared.size, preparedMax)
  const [again] = await sql<{ value: number }[]>`select ${7}::int as value, 1 as ${sql('text_7')}`
  t.equal(again?.value, 7, 'the first texts stay prepared')
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

/** Debits a leg's first minute. */
async function chargedLeg(store: Store, organizationId: string, microUsdPerMinute: number, nowMs: number) {
  const call = newCall(organizationId, { ownerId: store.instanceId })
  await store.calls.insert(call, {})
  const times = { createdAtMs: nowMs - 120_000, answeredAtMs: nowMs - 90_000, endedAtMs: null }
  const way = { party: 'caller', direction: 'outbound', line: 'carrier' } as const
  const id = systemIds.leg()
  const of = { organizationId, test: false, id, callId: call.id, carrierLegId: null }
  await store.legs.insert({ ...of, ...way, ...times, microUsdPerMinute })
  await store.legCharges.charge(10)
  await store.legs.ended({ organizationId, test: false, id, callId: call.id } as never, nowMs)
}
