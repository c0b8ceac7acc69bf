/** Figures about many calls over the public API: by time, by group, and in a time zone. */
import t from 'tap'
import type { Call, CallEntry, Turn } from '../../domain/records/call.ts'
import { inboundPhone, newCall, newEvent, newTurn } from '../calls/call.ts'
import { openDatabase } from '../process/database.ts'
import type { Target } from '../router/requests.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Figures = { rows: object[]; total: object }

const read = async (target: Target, query: string) =>
  (await call(target, 'GET', `/v1/calls/figures?${query}`)).json<Figures>()

const agent = { source: 'agent' as const, latencyStatus: 'complete' as const }

async function insert(organizationId: string, at: string, more: Partial<Call>, turns: Partial<Turn>[], ms: number) {
  const createdAtMs = Date.parse(at)
  const stored = newCall(organizationId, { createdAtMs, ...more })
  await admin.store.calls.insert(stored, {})
  const entries: CallEntry[] = turns.map((turn, index) => ({ kind: 'turn', turn: newTurn({ index, ...turn }) }))
  const end = { endedAtMs: createdAtMs + ms, endReason: 'user_hangup' as const }
  entries.push(
    { kind: 'move', event: newEvent('call.in_progress'), to: 'in_progress', change: { startedAtMs: createdAtMs } },
    { kind: 'move', event: newEvent('call.completed'), to: 'completed', change: end },
  )
  t.same(await admin.store.calls.append(stored, stored.id, entries), [])
}

t.test('getCallFigures sums calls by day in a time zone, and by the requested groups', async (t) => {
  const acme = await admin.organization('with figures')
  const other = await admin.organization('with other figures')
  const inbound = { kind: 'inbound' as const, phone: inboundPhone, status: 'ringing' as const }
  const interrupted = { ...agent, latencyStatus: 'interrupted' as const, conversationalLatencyMs: 300 }
  await insert(acme.id, '2026-11-01T10:00:00Z', {}, [{ ...agent, conversationalLatencyMs: 500 }], 10_000)
  await insert(acme.id, '2026-11-01T23:30:00Z', inbound, [interrupted], 20_000)
  await insert(acme.id, '2026-11-03T10:00:00Z', {}, [], 5_000)
  await insert(other.id, '2026-11-03T11:00:00Z', {}, [], 5_000)
  const range = 'since=2026-11-01T00:00:00Z&until=2026-11-04T00:00:00Z'
  const days = await read(acme, range)
  t.match(days, {
    rows: [
      { bucket: '2026-11-01T00:00:00.000Z', calls: 2, duration_seconds: 30, latency_ms: { p50: 400, p95: 490 } },
      { bucket: '2026-11-03T00:00:00.000Z', calls: 1, duration_seconds: 5, latency_ms: null },
    ],
    total: { calls: 3, connected: 3, failed: 0, duration_seconds: 35, interruptions: 1, cost_micro_usd: '0' },
  })
  t.equal(days.rows.length, 2)
  const berlin = await read(acme, `${range}&time_zone=Europe/Berlin`)
  t.match(berlin.rows, [
    { bucket: '2026-10-31T23:00:00.000Z', calls: 1 },
    { bucket: '2026-11-01T23:00:00.000Z', calls: 1 },
    { bucket: '2026-11-02T23:00:00.000Z', calls: 1 },
  ])
  const kinds = await read(acme, `${range}&interval=none&group_by=kind&group_by=direction`)
  t.match(kinds.rows, [
    { bucket: null, kind: 'browser', direction: null, calls: 2 },
    { bucket: null, kind: 'inbound', direction: 'inbound', calls: 1 },
  ])
  t.match(await read(acme, `${range}&kind=inbound`), { total: { calls: 1, interruptions: 1 } })
  t.match(await read(acme, `${range}&phone_number_id=pn_0`), { rows: [], total: { calls: 0, latency_ms: null } })
  const hours = await read(acme, 'since=2026-11-01T00:00:00Z&until=2026-11-02T00:00:00Z&interval=hour')
  t.match(hours.rows, [{ bucket: '2026-11-01T10:00:00.000Z' }, { bucket: '2026-11-01T23:00:00.000Z' }])
})

t.test('getCallFigures refuses too long time ranges, unknown time zones and too many groups', async (t) => {
  const acme = await admin.organization('with refused figures')
  for (const query of [
    'since=2026-01-01T00:00:00Z&until=2026-11-01T00:00:00Z',
    'since=2026-11-01T00:00:00Z&until=2026-10-01T00:00:00Z',
    'interval=hour&since=2026-10-01T00:00:00Z&until=2026-10-09T00:00:00Z',
    'time_zone=Mars/Base',
    'time_zone=IST',
    'time_zone=%2B05:00',
    'group_by=kind&group_by=status&group_by=agent',
    'group_by=color',
    'interval=week',
  ])
    t.match(faultOf(await call(acme, 'GET', `/v1/calls/figures?${query}`)), { code: 'VALIDATION_ERROR' }, query)
  t.match(await read(acme, 'interval=hour'), { rows: [], total: { calls: 0 } }, 'hours of the last seven days')
})

t.test(
  'the total of 5,000 calls equals the sum of their rows, and both have the percentiles of their calls',
  async (t) => {
    const acme = await admin.organization('with many figures')
    await insert(acme.id, '2026-09-01T00:00:00Z', {}, [], 1_000)
    // A call each five minutes from 1 to 18 September. Every fourth call has failed, and call n has n as its latency.
    await sql`
    insert into calls select (jsonb_populate_record(calls, jsonb_build_object('id', gen_random_uuid(),
      'created_at', calls.created_at + n * interval '5 minutes'))).*
    from calls, generate_series(1, 4999) as n where organization_id = ${acme.id}`
    await sql`
    insert into call_facts select (jsonb_populate_record(f, jsonb_build_object('id', c.id, 'created_at', c.created_at,
      'duration_s', 3, 'cost_micro_usd', 7, 'p50_ms', c.n, 'status', case c.n % 4 when 0 then 'failed' else 'completed' end))).*
    from call_facts f, (select *, (row_number() over (order by created_at)) - 1 as n from calls
      where organization_id = ${acme.id}) as c
    where f.organization_id = ${acme.id} and c.id <> f.id`
    const figures = await read(acme, 'since=2026-09-01T00:00:00Z&until=2026-10-01T00:00:00Z&group_by=status')
    const sum = (name: string) => figures.rows.reduce((all, row) => all + (row as Record<string, number>)[name]!, 0)
    t.match(figures.total, { calls: 5_000, failed: 1_249, duration_seconds: 14_998, cost_micro_usd: '34993' })
    const { latency_ms: latency } = figures.total as { latency_ms: { p50: number; p95: number } }
    t.same([latency.p50, latency.p95.toFixed(1)], [2_500, '4749.1'])
    t.equal(sum('calls'), 5_000)
    t.equal(sum('failed'), 1_249)
    t.equal(figures.rows.length, 36)
  },
)
