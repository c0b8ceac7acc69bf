/**
 * Tests usage from database rows: for calls and their agents, for live and test requests, from older versions; and its
 * limits.
 */
import t from 'tap'
import { type UsageGroup, usageRowsMax } from '../../domain/billing/usage.ts'
import { newCall } from '../calls/call.ts'
import { organization, TestCluster } from './cluster.ts'
import { choiceIn, ledgerRow, settled } from './settlement.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const dayMs = 86_400_000
/** Noon of one day, UTC. */
const noonMs = Date.parse('2026-11-21T12:00:00Z')
const query = (...groups: UsageGroup[]) => ({
  ...{ fromMs: noonMs - dayMs, toMs: noonMs + dayMs },
  ...{ groups: new Set(groups), timeZone: 'UTC', filter: {} },
})
const choice = choiceIn('en')

async function setUp() {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const { id: organizationId } = await organization(store, 'a', 1_000_000)
  const settle = (requestId: string, over: Parameters<typeof ledgerRow>[2]) => {
    const row = ledgerRow(organizationId, requestId, { startedAtMs: noonMs, ...over })
    return settled(store, { row, choice, status: 'succeeded', reservedMicroUsd: 0 })
  }
  const sql = cluster.sql(t, url)
  const live = { organizationId, test: false }
  return { store, sql, settle, live, test: { organizationId, test: true } }
}

t.test('usage of calls shows their agent, their API key, and the seconds of their call legs', async (t) => {
  const { store, sql, settle, live, test } = await setUp()
  const call = newCall(live.organizationId, { keyId: 'pn_1' })
  await store.calls.insert(call, {})
  await sql`update calls set agent_id = 'agent_1' where id = ${call.id}`
  const leg = (id: string, seconds: number | null, microUsdPerMinute: number | null) => sql`
    insert into call_legs (organization_id, test, id, call_id, party, direction, line, created_at, answered_at, ended_at,
      micro_usd_per_minute)
    values (${live.organizationId}, false, ${id}, ${call.id}, 'caller', 'inbound', 'carrier', ${new Date(noonMs)},
      ${new Date(noonMs)}, ${seconds === null ? null : new Date(noonMs + seconds * 1000 - 400)}, ${microUsdPerMinute})`
  await settle('req_1', { callId: call.id, keyId: 'pn_1', costMicroUsd: 40 })
  await leg('leg_1', 61, 7_000)
  await leg('leg_2', 2, null)
  await leg('leg_live', null, 7_000)
  t.same(await store.usage.read(live, query('agent', 'key', 'stage', 'provider', 'model')), [
    {
      ...{ key: 'pn_1', agent: 'agent_1', provider: 'carrier', model: 'inbound', stage: 'carrier' },
      ...{ requests: 0, legs: 2, failed: 0, unpriced: 1, costMicroUsd: Math.ceil((7_000 * 61) / 60) },
      quantities: { carrier_seconds: 63 },
    },
    {
      ...{ key: 'pn_1', agent: 'agent_1', provider: 'mock', model: 'mock-1', stage: 'llm' },
      ...{ requests: 1, legs: 0, failed: 0, unpriced: 0, costMicroUsd: 40, quantities: { output_tokens: 7 } },
    },
  ])
  await sql`update calls set ended_at = ${new Date(noonMs + 10_000)}, status = 'completed', end_reason = 'user' where id = ${call.id}`
  t.match(await store.usage.read(live, query()), [{ legs: 3, quantities: { carrier_seconds: 73 } }])
  t.same(await store.usage.read(test, query()), [])
})

t.test('live and test requests are counted separately, also in old rows without a test column', async (t) => {
  const { store, sql, settle, live, test } = await setUp()
  const key = { organizationId: live.organizationId, name: '', scopes: [], policy: {}, expiresAtMs: null }
  const [ofTest, ofLive] = [
    await store.keys.create({ ...key, test: true }),
    await store.keys.create({ ...key, test: false }),
  ]
  await settle('req_1', { keyId: 'pn_1', test: true, costMicroUsd: 0 })
  await settle('req_2', { keyId: ofTest?.key.id ?? '', costMicroUsd: 0 })
  await settle('req_3', { keyId: ofLive?.key.id ?? '', costMicroUsd: 5 })
  await settle('req_4', { keyId: 'gone', costMicroUsd: null })
  await sql`update requests set test = null where request_id <> 'req_1'`
  t.match(await store.usage.read(test, query()), [{ requests: 2, costMicroUsd: 0, unpriced: 0 }])
  t.match(await store.usage.read(live, query()), [{ requests: 2, costMicroUsd: 5, unpriced: 1 }])
  t.match(await store.usage.read(live, query('key')), [
    { key: 'gone', costMicroUsd: null, unpriced: 1 },
    { key: ofLive?.key.id, costMicroUsd: 5, unpriced: 0 },
  ])
})

t.test('a request that its client aborted is counted, but not as failed', async (t) => {
  const { store, settle, live } = await setUp()
  await settle('req_1', { outcome: 'cancelled' })
  await settle('req_2', { outcome: 'no_candidate' })
  await settle('req_3', {})
  t.match(await store.usage.read(live, query()), [{ requests: 3, failed: 1 }])
})

t.test('usage is grouped by UTC days, and the end of the requested time range is excluded', async (t) => {
  const { store, settle, live } = await setUp()
  const midnightMs = Date.parse('2026-11-22T00:00:00Z')
  for (const [at, startedAtMs] of [midnightMs - 1, midnightMs, noonMs + dayMs, noonMs - dayMs].entries())
    await settle(`req_${at}`, { startedAtMs, quantities: [] })
  t.same(
    await store.usage.read(live, query('day')),
    ['2026-11-20', '2026-11-21', '2026-11-22'].map((day) => ({
      ...{ day, requests: 1, legs: 0, failed: 0, unpriced: 0, costMicroUsd: 0, quantities: {} },
    })),
  )
})

t.test('a usage query with more rows than the limit is refused', async (t) => {
  const { store, sql, settle, live } = await setUp()
  await settle('req_0', {})
  await sql`
    insert into requests (organization_id, request_id, stage, started_at, key_id, operation, outcome, duration_ms, quantities, test)
    select organization_id, 'copy_' || n, stage, started_at, 'copy_' || n, operation, outcome, duration_ms, quantities, test
    from requests, generate_series(1, ${usageRowsMax}::integer) n`
  t.equal(await store.usage.read(live, query('key')), 'too_many_rows')
  t.match(await store.usage.read(live, query('day')), [{ requests: usageRowsMax + 1 }])
})
