/**
 * The columns by which calls are searched and sorted: the cost is known only after the end, and calls that a previous
 * version has stored have no such columns.
 */
import t, { type Test } from 'tap'
import type { CallEntry } from '../../domain/records/call.ts'
import { newCall, newEvent, newTurn } from '../calls/call.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, silent, TestCluster } from './cluster.ts'
import { choiceIn, ledgerAttempt, ledgerRow, settled } from './settlement.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const hourMs = 3_600_000
const startMs = Date.parse('2026-11-01T10:00:00.000Z')

async function setUp(t: Test) {
  const url = await cluster.database()
  const clock = storeClock()
  const errors: object[] = []
  const log = { ...silent, error: (fields: object) => void errors.push(fields) }
  const store = await cluster.store(t, url, { clock, log })
  const other = await cluster.store(t, url, { clock })
  const { id: organizationId } = await organization(store, 'a')
  const tenant = { organizationId, test: false }
  const call = async (costs: readonly (number | null)[], isOver = true, more: { id?: string } = {}) => {
    const made = newCall(organizationId, { createdAtMs: startMs, ...more })
    await store.calls.insert(made, {})
    for (const [at, costMicroUsd] of costs.entries()) {
      const attempts = [ledgerAttempt(`att_${made.id}_${at}`, { costMicroUsd })]
      const row = ledgerRow(organizationId, `req_${made.id}_${at}`, {
        ...{ callId: made.id, attemptId: `att_${made.id}_${at}`, attempts, costMicroUsd },
      })
      await settled(store, { row, choice: choiceIn('en'), status: 'succeeded', reservedMicroUsd: 0 })
    }
    const entries: CallEntry[] = [
      { kind: 'move', event: newEvent('call.in_progress'), to: 'in_progress', change: { startedAtMs: startMs } },
      { kind: 'turn', turn: newTurn({ source: 'agent', conversationalLatencyMs: 400 }) },
    ]
    const change = { endedAtMs: startMs + 10_000, endReason: 'user_hangup' as const }
    if (isOver) entries.push({ kind: 'move', event: newEvent('call.completed'), to: 'completed', change })
    t.same(await store.calls.append(tenant, made.id, entries), [])
    return made.id
  }
  const costs = async (filter: { minCostMicroUsd?: number; maxCostMicroUsd?: number } = {}) => {
    const query = { words: [], sort: 'cost_micro_usd' as const, limit: 50, after: null }
    const { calls } = await store.calls.overview(tenant, { filter, ...query })
    return calls.map(({ id, costMicroUsd }) => [id, costMicroUsd])
  }
  const sql = cluster.sql(t, url)
  /** Stores a call and 150 copies as a previous version did, two days ago. Their search columns cannot be computed. */
  const breakOldCalls = async () => {
    await call([100])
    await sql`
      insert into calls select (jsonb_populate_record(calls, jsonb_build_object('id',
        overlay(calls.id::text placing lpad(to_hex(n), 12, '0') from 25)))).* from calls, generate_series(1, 150) as n`
    await clock.leap(2 * 86_400_000)
    await sql`delete from call_facts`
    await sql`update calls set ended_at = started_at + interval '100 years'`
  }
  /** Stores a call now as a previous version did. */
  const recentCall = async () => {
    const hex = clock.nowMs().toString(16).padStart(12, '0')
    const id = await call([], true, { id: `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000` })
    await sql`delete from call_facts where id = ${id}`
  }
  const mendCalls = () => sql`update calls set ended_at = started_at + interval '10 seconds'`
  /** Lets the loop run until a search has handled 151 calls. Resolves with the number of calls with search columns. */
  const look = async () => {
    for (let part = 0; part < 3; part += 1) await store.calls.completeFacts()
    const [row] = await sql<{ count: number }[]>`select count(*)::int as count from call_facts`
    return row?.count
  }
  return { store, other, clock, sql, call, costs, errors, breakOldCalls, recentCall, mendCalls, look }
}

t.test('the cost of a call is summed some seconds after its end, and filters and sorts lists of calls', async (t) => {
  const { store, clock, call, costs } = await setUp(t)
  const cheap = await call([100, 20])
  const dear = await call([5000, null])
  const free = await call([])
  const live = await call([7000], false)
  await store.calls.completeFacts()
  t.same(new Set((await costs()).map(([, cost]) => cost)), new Set([null]), 'the last costs may still come')
  await clock.leap(5_000)
  await store.calls.completeFacts()
  t.same(await costs(), [
    [dear, 5000],
    [cheap, 120],
    [free, 0],
    [live, null],
  ])
  t.same(await costs({ minCostMicroUsd: 120 }), [
    [dear, 5000],
    [cheap, 120],
  ])
  t.same(await costs({ maxCostMicroUsd: 120 }), [
    [cheap, 120],
    [free, 0],
  ])
})

t.test('calls that a previous version has stored get their cost and other search columns afterwards', async (t) => {
  const { store, sql, clock, call, costs } = await setUp(t)
  const id = await call([100])
  await store.calls.completeFacts()
  await sql`delete from call_facts`
  t.same(await costs(), [])
  await clock.leap(hourMs)
  await store.calls.completeFacts()
  t.same(await costs(), [[id, 100]])
  t.match(await sql`select turns, slowest_us, duration_s, is_live, outcome from call_facts`, [
    { turns: 1, duration_s: 10, is_live: false, outcome: String },
  ])
})

t.test('a call whose search columns cannot be computed does not delay the other calls', async (t) => {
  const { store, sql, clock, call, costs } = await setUp(t)
  const [first, broken, last] = [await call([100]), await call([200]), await call([300])]
  await sql`delete from call_facts`
  // This number of seconds is too large for an integer column.
  await sql`update calls set ended_at = started_at + interval '100 years' where id = ${broken}`
  await store.calls.completeFacts()
  t.same(await costs(), [
    [last, 300],
    [first, 100],
  ])
  await sql`update calls set ended_at = started_at + interval '10 seconds' where id = ${broken}`
  await clock.leap(hourMs)
  await store.calls.completeFacts()
  t.same(await costs(), [
    [last, 300],
    [broken, 200],
    [first, 100],
  ])
})

t.test('an old call whose search columns could not be computed at first gets them without a restart', async (t) => {
  const { store, sql, clock, call, costs } = await setUp(t)
  const [broken, locked, gone] = [await call([100]), await call([200]), await call([300])]
  await clock.leap(2 * 86_400_000)
  await sql`delete from call_facts`
  await sql`update calls set ended_at = started_at + interval '100 years' where id in ${sql([broken, gone])}`
  await sql.begin(async (tx) => {
    await tx`select from calls where id = ${locked} for update`
    await store.calls.completeFacts()
  })
  t.same(await costs(), [])
  await sql`delete from calls where id = ${gone}`
  for (let hour = 0; hour < 3; hour += 1) {
    await clock.leap(hourMs)
    await store.calls.completeFacts()
    t.same(await costs(), [[locked, 200]], 'the broken call cannot be made yet')
  }
  await sql`update calls set ended_at = started_at + interval '10 seconds' where id = ${broken}`
  await clock.leap(hourMs)
  await store.calls.completeFacts()
  t.same(await costs(), [
    [locked, 200],
    [broken, 100],
  ])
})

t.test('if the search columns of many old calls could not be computed, all calls are searched again', async (t) => {
  const { clock, breakOldCalls, mendCalls, look } = await setUp(t)
  await breakOldCalls()
  t.equal(await look(), 0)
  await mendCalls()
  await clock.leap(hourMs)
  t.equal(await look(), 151)
})

t.test('the time to the next search of all calls doubles while their search columns cannot be computed', async (t) => {
  const { clock, breakOldCalls, mendCalls, look } = await setUp(t)
  await breakOldCalls()
  t.equal(await look(), 0)
  for (const hours of [1, 2, 4, 8, 16, 24]) {
    await clock.leap(hours * hourMs)
    t.equal(await look(), 0, `after ${hours} hours all calls have failed again`)
  }
  await mendCalls()
  for (let hour = 1; hour < 24; hour += 1) {
    await clock.leap(hourMs)
    t.equal(await look(), 0, `after ${hour} hours only the last day's calls are looked at`)
  }
  await clock.leap(hourMs)
  t.equal(await look(), 151, 'all calls are looked at once a day')
})

t.test('a search of the last day does not shorten the time to the next search of all calls', async (t) => {
  const { clock, breakOldCalls, mendCalls, look, recentCall } = await setUp(t)
  await breakOldCalls()
  t.equal(await look(), 0)
  await clock.leap(hourMs)
  t.equal(await look(), 0, 'the next look at all calls is in two hours')
  await recentCall()
  await clock.leap(hourMs)
  t.equal(await look(), 1, 'a look at the last day has found a call')
  await clock.leap(hourMs)
  t.equal(await look(), 1, 'the next look at all calls is in four hours')
  await mendCalls()
  for (let hour = 1; hour < 4; hour += 1) {
    await clock.leap(hourMs)
    t.equal(await look(), 1, `after ${hour} hours only the last day's calls are looked at`)
  }
  await clock.leap(hourMs)
  t.equal(await look(), 152)
})

t.test('a search of the calls writes one log line for all of its failed calls', async (t) => {
  const { clock, errors, breakOldCalls, look } = await setUp(t)
  await breakOldCalls()
  await look()
  t.match(errors, [{ calls: 151, callId: String, err: { message: /out of range/ } }])
  await clock.leap(hourMs)
  await look()
  t.match(errors, [{ calls: 151 }, { calls: 151 }])
})

t.test('two processes share the work of computing the missing search columns of calls', async (t) => {
  const { store, other, sql, call, costs } = await setUp(t)
  const id = await call([100])
  await sql`
    insert into calls select (jsonb_populate_record(calls, jsonb_build_object('id',
      overlay(calls.id::text placing lpad(to_hex(n), 12, '0') from 25)))).* from calls, generate_series(1, 250) as n`
  await sql`delete from call_facts`
  for (let at = 0; at < 3; at += 1) await Promise.all([store.calls.completeFacts(), other.calls.completeFacts()])
  t.match(await sql`select count(*)::int as count from call_facts`, [{ count: 251 }])
  t.match(
    (await costs()).find(([each]) => each === id),
    [id, 100],
  )
})
