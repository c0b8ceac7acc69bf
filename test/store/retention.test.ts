/** Deletion of old rows: the deleted rows, the kept rows, and unchanged usage and costs. */
import t, { type Test } from 'tap'
import type { LedgerRow } from '../../domain/billing/ledger.ts'
import { type UsageGroup, usageGroups } from '../../domain/billing/usage.ts'
import { type Costs, costsOf } from '../../domain/calls/costs.ts'
import { commandEvent } from '../../domain/records/audit.ts'
import type { CallEntry } from '../../domain/records/call.ts'
import type { Retention } from '../../store/retention.ts'
import { callbackOf, promised } from '../callbacks/callback.ts'
import { newCall, newEvent, newSpan, newTurn } from '../calls/call.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'
import { choiceIn, ledgerAttempt, ledgerRow, settled } from './settlement.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const dayMs = 86_400_000
const sweepMs = 60_000
const choice = choiceIn('en')
const kept: Retention = {
  requestsDays: null,
  callsDays: null,
  eventsDays: null,
  deliveriesDays: null,
  messageTextsDays: null,
  auditDays: null,
}

async function setUp(t: Test, retention: Partial<Retention>) {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock, retention: { ...kept, ...retention } })
  const { id: organizationId } = await organization(store, 'a', 1_000_000)
  const sql = cluster.sql(t, url)
  const settle = (row: LedgerRow) =>
    settled(store, { row, choice, status: row.outcome === 'succeeded' ? 'succeeded' : 'failed', reservedMicroUsd: 0 })
  /** Lets time pass until all sweeps have ended. */
  const sweep = () => clock.leap(sweepMs)
  const live = { organizationId, test: false }
  return { store, sql, settle, sweep, clock, live, test: { organizationId, test: true } }
}
type Setup = Awaited<ReturnType<typeof setUp>>

/** After requests were deleted, only their day is known, so they cannot be grouped by hour. */
const allGroups = usageGroups.filter((group) => group !== 'hour')
const combinations: UsageGroup[][] = [[], ['day'], ['key'], ['agent', 'stage'], ['provider', 'model'], allGroups]

async function usageOf({ store, clock, live, test }: Setup) {
  const toMs = clock.nowMs() + dayMs
  const fromMs = (Math.floor(clock.nowMs() / dayMs) - 20) * dayMs
  const read = (tenant: typeof live) =>
    combinations.map((names) =>
      store.usage.read(tenant, { fromMs, toMs, groups: new Set(names), timeZone: 'UTC', filter: {} }),
    )
  return Promise.all([...read(live), ...read(test)])
}

const [oldId, recentId] = ['019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a80', '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a81'] as const

/** Makes a call that ended `days` ago, with all its parts. */
async function endedCall({ store, sql, clock, live }: Setup, days: number, isCalledBack = false) {
  const atMs = clock.nowMs() - days * dayMs
  const call = newCall(live.organizationId, { createdAtMs: atMs - 60_000 })
  await store.calls.insert(call, {})
  const entries: CallEntry[] = [
    {
      kind: 'move',
      event: newEvent('call.in_progress', { occurredAtMs: atMs - 50_000 }),
      to: 'in_progress',
      change: { startedAtMs: atMs - 50_000 },
    },
    { kind: 'turn', turn: newTurn() },
    { kind: 'span', span: newSpan() },
    ...(isCalledBack ? [promised(callbackOf(call))] : []),
    {
      kind: 'move',
      event: newEvent('call.completed', { occurredAtMs: atMs }),
      to: 'completed',
      change: { endedAtMs: atMs, endReason: 'user_hangup' },
    },
  ]
  t.same(await store.calls.append(call, call.id, entries), [])
  await sql`update calls set agent_id = 'agent_1', recording_status = 'suppressed' where id = ${call.id}`
  await sql`
    insert into call_legs (organization_id, test, id, call_id, party, direction, line, created_at, answered_at, ended_at,
      micro_usd_per_minute, is_settled)
    values (${live.organizationId}, false, ${`leg_${call.id}`}, ${call.id}, 'caller', 'inbound', 'carrier',
      ${new Date(atMs - 50_000)}, ${new Date(atMs - 50_000)}, ${new Date(atMs)}, 7001, true)`
  return call
}

/** Makes requests on ten days, with every kind of value in usage. */
async function requestsOfTenDays({ settle, clock, live }: Setup, callId: string): Promise<void> {
  const midnightMs = Math.floor(clock.nowMs() / dayMs) * dayMs
  for (let day = 0; day < 10; day += 1)
    for (let number = 0; number < 12; number += 1) {
      const startedAtMs = midnightMs - day * dayMs - number * 7_000_000
      const isCalled = number % 4 === 0
      const costMicroUsd = number % 5 === 0 ? null : number * 1_001 + 0.3
      const unit = number % 3 === 0 ? 'audio_seconds' : 'output_tokens'
      const quantities =
        number % 7 === 0
          ? []
          : [
              { unit, amount: number / 10 },
              { unit: 'input_tokens', amount: 0.1 },
            ]
      const use = { quantities, costMicroUsd, provider: `p${number % 2}`, model: `m${number % 3}`, startedAtMs }
      const attempts = [ledgerAttempt('att_1', { startedAtMs, outcome: 'timeout' }), ledgerAttempt('att_2', use)]
      const row = ledgerRow(live.organizationId, `req_${day}_${number}`, {
        ...{ ...use, attempts, keyId: `key_${number % 2}`, test: number % 6 === 5 },
        ...{ outcome: number % 11 === 0 ? 'timeout' : 'succeeded', callId: isCalled ? callId : null },
      })
      await settle(row)
    }
}

/** Rounds the sums, because binary sums over the same parts may differ in their last bit. */
function linesInOrder({ lines, costMicroUsd }: Costs): string[] {
  return [
    ...lines.map((line) => JSON.stringify({ ...line, quantity: line.quantity.toFixed(9) })).sort(),
    `${costMicroUsd}`,
  ]
}

const countOf = async ({ sql }: Setup, table: string) => (await sql`select from ${sql(table)}`).count

t.test('if old requests are deleted, usage, costs of calls and credit stay the same', async (t) => {
  const setup = await setUp(t, { requestsDays: 3 })
  const { store, sql, sweep, live } = setup
  const call = await endedCall(setup, 1)
  await requestsOfTenDays(setup, call.id)
  // In rows from older versions, the key decides whether a request is live or test.
  await sql`update requests set test = null where request_id = 'req_9_1'`
  const costs = async () => linesInOrder(costsOf(await store.callRecord.attempts(live, call.id), [], false))
  const before = {
    usage: await usageOf(setup),
    costs: await costs(),
    credit: await store.creditAccounts.read(live.organizationId, 100, null),
  }
  t.ok(before.costs.length > 3)
  await sweep()
  const midnight = new Date(Math.floor(setup.clock.nowMs() / dayMs) * dayMs)
  t.match(
    await sql`select min(started_at) >= ${midnight}::timestamptz - interval '3 days' as "areRecent" from requests`,
    [{ areRecent: true }],
  )
  t.ok((await countOf(setup, 'requests')) < 60)
  t.equal(await countOf(setup, 'attempts'), 2 * (await countOf(setup, 'requests')))
  t.same(await usageOf(setup), before.usage)
  t.same(await costs(), before.costs)
  t.same(await store.creditAccounts.read(live.organizationId, 100, null), before.credit)

  const late = { startedAtMs: setup.clock.nowMs() - 8 * dayMs, costMicroUsd: 77, keyId: 'key_0' }
  await setup.settle(ledgerRow(live.organizationId, 'req_late', late))
  const withLate = await usageOf(setup)
  await sweep()
  t.same(await usageOf(setup), withLate, 'a row that comes late is added to the sums of its day')
})

t.test('if more requests are due than a batch holds, one run deletes all requests that are due', async (t) => {
  const setup = await setUp(t, { requestsDays: 1 })
  const { store, sql, settle, sweep, clock, live } = setup
  const other = await organization(store, 'b')
  for (const organizationId of [live.organizationId, other.id])
    await settle(ledgerRow(organizationId, 'req', { startedAtMs: clock.nowMs() - 5 * dayMs, costMicroUsd: 3 }))
  await sql`
    insert into requests (organization_id, request_id, stage, started_at, key_id, operation, outcome, duration_ms,
      quantities, test, cost_micro_usd)
    select organization_id, request_id || n, stage, started_at, key_id, operation, outcome, duration_ms, quantities, test, 3
    from requests, generate_series(1, 1500) n`
  const before = await usageOf(setup)
  await sweep()
  t.equal(await countOf(setup, 'requests'), 0)
  t.same(await usageOf(setup), before)
  t.equal(await countOf(setup, 'usage_days'), 4, 'a row for each organization and model')
})

t.test('if calls are deleted with all their rows, the usage of their legs and requests stays', async (t) => {
  const setup = await setUp(t, { callsDays: 5 })
  const { store, sql, sweep, live } = setup
  const [old, recent, waiting, unpaid, recorded] = await Promise.all(
    [9, 2, 9, 9, 9].map((days, at) => endedCall(setup, days, at === 2)),
  )
  if (!old || !recent || !waiting || !unpaid || !recorded) throw new Error('five calls')
  await requestsOfTenDays(setup, old.id)
  await sql`update call_legs set is_settled = false where call_id = ${unpaid.id}`
  await sql`update calls set recording_status = 'ready' where id = ${recorded.id}`
  const before = await usageOf(setup)
  await sweep()
  const left = (await sql<{ id: string }[]>`select id from calls`).map(({ id }) => id)
  t.same(left.sort(), [recent.id, waiting.id, unpaid.id, recorded.id].sort())
  t.equal(await store.calls.find(live, old.id), null)
  for (const table of ['call_turns', 'call_events', 'call_spans', 'call_reports', 'call_legs'])
    t.same(await sql`select from ${sql(table)} where call_id = ${old.id}`, [], table)
  t.same(await usageOf(setup), before)
})

t.test('events and spans are deleted before their call, and the call keeps its turns and report', async (t) => {
  const setup = await setUp(t, { eventsDays: 5 })
  const { store, sweep, live } = setup
  const [old, recent] = [await endedCall(setup, 9), await endedCall(setup, 2)]
  await sweep()
  t.same(await store.callRecord.events(live, old.id, 0), [])
  t.ok((await store.callRecord.events(live, recent.id, 0)).length > 0)
  t.match(await store.wholeCalls.find(live, old.id), { turns: [{}], spans: [], report: {} })
})

t.test('if no retention days are set, nothing is deleted', async (t) => {
  const setup = await setUp(t, {})
  const call = await endedCall(setup, 3_000)
  await requestsOfTenDays(setup, call.id)
  await setup.sweep()
  t.equal(await countOf(setup, 'requests'), 120)
  t.equal(await countOf(setup, 'calls'), 1)
})

t.test('audit events are deleted after the configured number of days', async (t) => {
  const { store, sql, sweep, clock, live } = await setUp(t, { auditDays: 30 })
  const event = commandEvent(live.organizationId, 'key.created', { type: 'key', id: 'old', name: null })
  await store.audit.add(event)
  clock.leap(31 * dayMs)
  await store.audit.add({ ...event, target: { type: 'key', id: 'recent', name: null } })
  await sweep()
  t.same(await sql`select target_id from audit_events where target_id in ('old', 'recent')`, [{ target_id: 'recent' }])
})

t.test('texts of messages are deleted after the configured number of days, and the messages stay', async (t) => {
  const { store, sql, sweep, clock, live } = await setUp(t, { messageTextsDays: 30 })
  await store.organizations.change(live.organizationId, { messageText: 'keep' })
  const insert = (id: string, text: string) => {
    const place = { ...live, id, phoneNumberId: oldId, conversationId: oldId, to: '+12125550161', tags: {} }
    const message = { ...place, status: 'delivered', channel: 'sms', createdAtMs: clock.nowMs() } as const
    return store.rmsgMessages.insert(message, text)
  }
  await insert(oldId, 'old')
  clock.leap(31 * dayMs)
  await insert(recentId, 'recent')
  await sweep()
  t.same(await sql`select id, text from rmsg_messages order by created_at`, [
    { id: oldId, text: null },
    { id: recentId, text: 'recent' },
  ])
})
