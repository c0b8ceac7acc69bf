/** The list of all calls over the public API: filters, overviews, and the search for words in turns. */
import t from 'tap'
import type { Call, Turn } from '../../domain/records/call.ts'
import { inboundPhone, newCall, newEvent, newTurn } from '../calls/call.ts'
import { openAsSuperuser } from '../process/database.ts'
import type { Target } from '../router/requests.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const sql = openAsSuperuser(parley)
t.teardown(() => sql.end())

type Overview = Record<string, unknown> & { id: string }
type Page = { calls: Overview[]; next_cursor: string | null }

const list = async (target: Target, query = '') => (await call(target, 'GET', `/v1/calls?${query}`)).json<Page>()
const idsOf = async (target: Target, query: string) => (await list(target, query)).calls.map(({ id }) => id)

const startMs = Date.parse('2026-11-01T10:00:00.000Z')

async function insert(organizationId: string, more: Partial<Call> = {}, turns: Partial<Turn>[] = []): Promise<string> {
  const stored = newCall(organizationId, { createdAtMs: startMs, ...more })
  await admin.store.calls.insert(stored, {})
  const entries = turns.map((turn, index) => ({ kind: 'turn' as const, turn: newTurn({ index, ...turn }) }))
  t.same(await admin.store.calls.append(stored, stored.id, entries), [])
  return stored.id
}

/** Connects a call, and ends the call after this time. */
async function end(organizationId: string, id: string, durationMs: number): Promise<void> {
  const stored = newCall(organizationId, { id })
  const connected = { startedAtMs: startMs }
  const ended = { endedAtMs: startMs + durationMs, endReason: 'user_hangup' as const }
  const refused = await admin.store.calls.append(stored, id, [
    { kind: 'move', event: newEvent('call.in_progress'), to: 'in_progress', change: connected },
    { kind: 'move', event: newEvent('call.completed'), to: 'completed', change: ended },
  ])
  t.same(refused, [])
}

t.test('listCalls shows what happened in a call, and matching words only for a search', async (t) => {
  const acme = await admin.organization('overview')
  const failed = { id: 'call_1', name: 'book', args: '{}', status: 'failed' as const }
  const agent = { source: 'agent' as const, latencyStatus: 'complete' as const }
  const id = await insert(acme.id, { kind: 'inbound', phone: inboundPhone, status: 'ringing' }, [
    { ...agent, conversationalLatencyMs: 400 },
    { text: 'Is there a \u0000 tyre?' },
    { ...agent, conversationalLatencyMs: 900, startedAtMs: startMs + 5000, toolCalls: [failed] },
    { ...agent, conversationalLatencyMs: 600, latencyStatus: 'interrupted' },
  ])
  await end(acme.id, id, 61_000)
  const { calls } = await list(acme)
  t.match(calls, [
    {
      ...{
        id,
        resource_uri: `/v1/calls/${id}`,
        agent_id: null,
        agent_name: null,
        status: 'completed',
        kind: 'inbound',
      },
      ...{
        direction: 'inbound',
        from: inboundPhone.from,
        to: inboundPhone.to,
        phone_number_id: inboundPhone.phoneNumberId,
      },
      ...{ created_at: '2026-11-01T10:00:00.000Z', end_reason: 'user_hangup', duration_seconds: 61 },
      ...{ turns: 4, interruptions: 1, tool_calls: 1, tool_failures: 1, transfers: 0 },
      latency_ms: { p50: 600, max: 900 },
      slowest_turn: { index: 2, latency_ms: 900, started_at: '2026-11-01T10:00:05.000Z' },
    },
  ])
  t.notOk('matches' in (calls[0] ?? {}))
  const { status } = await call(acme, 'GET', `/v1/calls/${id}/report`)
  t.equal(status, 200)
  t.type(calls[0]?.['outcome'], 'string', 'the outcome of the report')
})

t.test('half a surrogate pair in a turn, a prompt or a live call does not break the list', async (t) => {
  const acme = await admin.organization('surrogates')
  const { pipeline } = newCall(acme.id)
  const id = await insert(acme.id, { pipeline: { ...pipeline, systemPrompt: 'Be \ud800 brief.' } }, [
    { text: 'A \ud83d tyre \udc00.' },
  ])
  t.match(await list(acme), { calls: [{ id, turns: 1 }] })
  t.match(await list(acme, 'q=tyre'), { calls: [{ id, matches: [{ text: 'A \ufffd tyre \ufffd.' }] }] })
  await t.resolves(admin.store.calls.inRooms(), 'of all organizations')
})

t.test('listCalls returns only calls that match all filters', async (t) => {
  const acme = await admin.organization('call filters')
  const other = await admin.organization('other calls')
  const wanted = { name: 'Front desk', systemPrompt: 'x', intent: { language: 'en' } }
  const { id: agentId } = (await call(acme, 'POST', '/v1/agents', wanted)).json<{ id: string }>()
  const short = await insert(acme.id, { agentId })
  const long = await insert(acme.id, { kind: 'inbound', phone: inboundPhone, createdAtMs: startMs + 1000 })
  const live = await insert(acme.id, { createdAtMs: startMs + 2000 })
  const foreign = await insert(other.id, { kind: 'inbound', phone: inboundPhone })
  await end(acme.id, short, 5000)
  await end(acme.id, long, 60_001)
  await end(other.id, foreign, 5000)
  t.same(await idsOf(acme, ''), [live, long, short], 'newest first, and of no other organization')
  t.equal((await list(acme, `agent_id=${agentId}`)).calls[0]?.['agent_name'], 'Front desk')
  const filters: [query: string, ids: string[]][] = [
    [`agent_id=${agentId}`, [short]],
    ['status=completed', [long, short]],
    ['kind=inbound', [long]],
    ['direction=inbound', [long]],
    ['direction=outbound', []],
    ['end_reason=user_hangup', [long, short]],
    ['end_reason=busy', []],
    [`phone_number_id=${inboundPhone.phoneNumberId}`, [long]],
    ['phone_number_id=pn_0', []],
    [`number=${encodeURIComponent(inboundPhone.from)}`, [long]],
    [`number=${encodeURIComponent('+2125550199')}`, []],
    ['number=5550199', [long]],
    ['number=0100', [long]],
    ['number=9999', []],
    ['live=true', [live]],
    ['live=false', [long, short]],
    ['since=2026-11-01T10:00:01.000Z', [live, long]],
    ['until=2026-11-01T10:00:01.000Z', [short]],
    ['min_duration_seconds=61', [long]],
    ['max_duration_seconds=5', [short]],
    ['min_duration_seconds=5&max_duration_seconds=61', [long, short]],
    ['status=completed&kind=inbound&max_duration_seconds=60', []],
    ['outcome=failed', []],
    ['outcome=no_conversation', [long, short]],
  ]
  for (const [query, ids] of filters) t.same(await idsOf(acme, query), ids, query)
  const wrong = [
    ...['sort=id', 'has=x', 'has=transfer&has=transfer', 'min_cost_micro_usd=-1', 'min_latency_ms=60001'],
    ...['agent_version=0', 'q=tyre&sort=duration_seconds'],
    ...[
      'limit=0',
      'limit=201',
      'q=x',
      'q=%20%20',
      `q=${'x'.repeat(201)}`,
      'live=maybe',
      'number=123',
      'number=%2B0123456',
    ],
    ...['cursor=eA', 'since=yesterday', 'min_duration_seconds=-1', 'max_duration_seconds=14401', 'outcome=good'],
  ]
  for (const query of wrong)
    t.match(faultOf(await call(acme, 'GET', `/v1/calls?${query}`)), { status: 400, code: 'VALIDATION_ERROR' }, query)
})

t.test('a word search of listCalls finds calls in which one turn has all the words, page by page', async (t) => {
  const acme = await admin.organization('search')
  // This time is later than all earlier calls' times, because the store never gives two calls the same time.
  const laterMs = startMs + 3_600_000
  const other = await admin.organization('other search')
  const said = (text: string, more: Partial<Turn> = {}): Partial<Turn> => ({ text, ...more })
  const tyre = await insert(acme.id, { createdAtMs: laterMs }, [
    said('Hello.'),
    said('Do you have a SPARE tyre for me?'),
    said('A spare Tyre costs 20 dollars.', { source: 'agent' }),
  ])
  const apart = await insert(acme.id, { createdAtMs: laterMs + 1000 }, [said('A spare wheel.'), said('And a tyre.')])
  const umlaut = await insert(acme.id, { createdAtMs: laterMs + 2000 }, [
    said('Große Ärgernisse \u0000, 100% sicher_!'),
  ])
  await insert(acme.id, { createdAtMs: laterMs + 3000 }, [said('spare tyre', { source: 'system' })])
  await insert(other.id, {}, [said('A spare tyre.')])
  t.same(await idsOf(acme, 'q=spare%20tyre'), [tyre], 'all words in one turn of a person or of the agent')
  t.same(await idsOf(acme, 'q=TYRE'), [apart, tyre], 'in either case')
  t.same(await idsOf(acme, 'q=%C3%A4rger'), [umlaut], 'in either case, for letters with marks too')
  t.same(await idsOf(acme, `q=${encodeURIComponent('100% r_!')}`), [umlaut], 'signs of patterns stand for themselves')
  t.same(await idsOf(acme, `q=${encodeURIComponent('1%s')}`), [])
  t.same(await idsOf(acme, 'q=spare&until=2026-11-01T11:00:01.000Z'), [tyre], 'with another filter')
  const found = (await list(acme, 'q=spare%20tyre')).calls[0]?.['matches']
  t.match(found, [
    { turn_index: 1, source: 'user', text: 'Do you have a SPARE tyre for me?' },
    { turn_index: 2, source: 'agent', text: 'A spare Tyre costs 20 dollars.' },
  ])
  const far = await insert(acme.id, { createdAtMs: laterMs + 4000 }, [
    said(`${'a '.repeat(400)}needle${' b'.repeat(400)}`),
  ])
  const [match] = (await list(acme, 'q=needle')).calls[0]?.['matches'] as { text: string }[]
  t.match(match?.text, /needle/, 'a long turn shows the part with the word')
  t.equal(match?.text.length, 200)
  const first = await list(acme, 'q=re&limit=1')
  t.equal(first.calls.length, 1)
  const second = await list(acme, `q=re&limit=1&cursor=${first.next_cursor}`)
  t.same(second.next_cursor, null)
  const all = await idsOf(acme, 'q=re')
  t.same(
    [...first.calls, ...second.calls].map(({ id }) => id),
    all,
  )
  t.notOk(all.includes(far))
})

t.test('listCalls finds calls by what happened in them, and by their slowest turn', async (t) => {
  const acme = await admin.organization('happenings')
  const at = startMs + 7_200_000
  const agent = { source: 'agent' as const, latencyStatus: 'complete' as const }
  const failed = { id: 'call_1', name: 'book', args: '{}', status: 'failed' as const }
  const slow = await insert(acme.id, { createdAtMs: at, pipeline: { ...newCall(acme.id).pipeline, agentVersion: 3 } }, [
    { ...agent, conversationalLatencyMs: 900.5, toolCalls: [failed] },
    { ...agent, conversationalLatencyMs: 300 },
  ])
  const quick = await insert(acme.id, { createdAtMs: at + 1 }, [
    { ...agent, conversationalLatencyMs: 200, latencyStatus: 'interrupted', text: 'A spare tyre.' },
  ])
  const silent = await insert(acme.id, { createdAtMs: at + 2 })
  const stored = newCall(acme.id, { id: silent })
  await admin.store.calls.append(stored, silent, [
    { kind: 'event', event: newEvent('agent.failover') },
    { kind: 'recording', event: newEvent('recording.recording'), status: 'recording', durationMs: null },
    { kind: 'recording', event: newEvent('recording.ready'), status: 'ready', durationMs: 10 },
  ])
  const filters: [query: string, ids: string[]][] = [
    ['min_latency_ms=900', [slow]],
    ['min_latency_ms=901', []],
    ['min_latency_ms=0', [quick, slow]],
    ['has=tool_failure', [slow]],
    ['has=interruption', [quick]],
    ['has=failover', [silent]],
    ['has=recording&has=failover', [silent]],
    ['has=recording&has=interruption', []],
    ['has=transfer', []],
    ['agent_version=3', [slow]],
    ['sort=slowest_turn_ms', [slow, quick, silent]],
    ['q=spare&has=interruption', [quick]],
    ['q=spare&has=tool_failure', []],
  ]
  for (const [query, ids] of filters) t.same(await idsOf(acme, query), ids, query)
  t.match(await list(acme, 'agent_version=3'), { calls: [{ agent_version: 3, failovers: 0, cost_micro_usd: null }] })
  t.match(await list(acme, 'has=failover'), { calls: [{ agent_version: 1, failovers: 1 }] })
})

t.test('a sorted list goes on page by page, and calls without a value are last', async (t) => {
  const acme = await admin.organization('sorted')
  const at = startMs + 10_800_000
  const lengthsMs = [5000, 61_000, 5000, 90_000]
  const ids: string[] = []
  for (const [index, lengthMs] of lengthsMs.entries()) {
    const id = await insert(acme.id, { createdAtMs: at + index })
    await end(acme.id, id, lengthMs)
    ids.push(id)
  }
  const live = [await insert(acme.id, { createdAtMs: at + 10 }), await insert(acme.id, { createdAtMs: at + 11 })]
  const found: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 10; pages++) {
    const page = await list(acme, `sort=duration_seconds&limit=2${cursor}`)
    found.push(...page.calls.map(({ id }) => id))
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
  }
  const equal = [ids[0]!, ids[2]!].sort().reverse()
  t.same(found, [ids[3], ids[1], ...equal, ...live.sort().reverse()])
})

t.test('a page of a search with a rare filter, or of a short time, reads a limited number of calls', async (t) => {
  const acme = await admin.organization('with very many calls')
  const agent = { source: 'agent' as const, latencyStatus: 'complete' as const }
  const failed = { id: 'call_1', name: 'book', args: '{}', status: 'failed' as const }
  const old = await insert(acme.id, {}, [{ ...agent, toolCalls: [failed] }, { text: 'a spare tyre' }])
  await end(acme.id, old, 5_000)
  // The copied rows of call_facts (the columns for the search) have no calls, so they are inserted quickly. They are
  // newer, with a longer duration and without a failed tool. They are not due, because the server shared by this
  // process's tests would otherwise sum 50,000 costs before any other cost. Foreign keys are switched off for this
  // transaction alone: to drop one locks two tables, and can end in a deadlock with a write of the server.
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx`
      insert into call_facts select (jsonb_populate_record(f, jsonb_build_object('id', gen_random_uuid(),
        'created_at', f.created_at + n * interval '1 second', 'tool_failures', 0, 'duration_s', 60,
        'due_at', null))).*
      from call_facts f, generate_series(1, 50000) as n where f.id = ${old}`
  })
  for (const query of ['q=tyre&has=tool_failure', 'sort=duration_seconds&has=tool_failure']) {
    const first = await list(acme, query)
    t.same([first.calls, first.next_cursor === null], [[], false], `${query}: the first page reads newer calls`)
    const second = await list(acme, `${query}&cursor=${first.next_cursor}`)
    t.match(second, { calls: [{ id: old }], next_cursor: null }, query)
  }
  const range = 'since=2026-11-01T00:00:00Z&until=2026-11-01T10:00:01Z'
  t.match(
    await list(acme, `sort=duration_seconds&${range}`),
    { calls: [{ id: old }], next_cursor: null },
    'a short time',
  )
})
