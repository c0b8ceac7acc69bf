/** The details of a call: its start, its recording, its tool calls and its requests. */
import t from 'tap'
import type { CallEntry, Call as StoredCall } from '../../domain/records/call.ts'
import { inboundPhone, newCall, newEvent, newSpan, newTurn } from '../calls/call.ts'
import { openDatabase } from '../process/database.ts'
import { choiceIn, ledgerAttempt, ledgerRow, settled } from '../store/settlement.ts'
import { call, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type ToolCall = { result: string | null; is_error: boolean; started_at: string | null }
type Call = {
  agent_name: string | null
  started_by: { type: string; id: string; name: string | null }
  recording_started_at: string | null
  transcript: { entries: { tool_calls: ToolCall[] }[] }
}
type Organization = Awaited<ReturnType<typeof admin.organization>>

async function stored(acme: Organization, more: Partial<StoredCall>, entries: CallEntry[] = []): Promise<string> {
  const made = newCall(acme.id, { keyId: acme.keyId, ...more })
  await admin.store.calls.insert(made, {})
  if (entries.length > 0) await admin.store.calls.append(made, made.id, entries)
  return made.id
}

const read = async (acme: Organization, id: string) => (await call(acme, 'GET', `/v1/calls/${id}`)).json<Call>()

t.test('getCall names the API key, the user or the number that started the call', async (t) => {
  const acme = await admin.organization('that starts calls')
  const browser = await read(acme, await stored(acme, {}))
  t.match(browser, { started_by: { type: 'api_key', id: acme.keyId, name: 'of a test' }, agent_name: null })
  const user = await read(acme, await stored(acme, { keyId: 'usr_1' }))
  t.same(user.started_by, { type: 'user', id: 'usr_1', name: null })
  const inbound = { kind: 'inbound' as const, phone: inboundPhone, keyId: inboundPhone.phoneNumberId }
  const number = await read(acme, await stored(acme, inbound))
  t.same(number.started_by, { type: 'phone_number', id: inboundPhone.phoneNumberId, name: inboundPhone.to })
  const other = await admin.organization('with another key')
  const foreign = await read(acme, await stored(acme, { keyId: other.keyId }))
  t.same(foreign.started_by, { type: 'api_key', id: other.keyId, name: null }, 'no name of another organization')
})

t.test("getCall does not show a callback as the cause of a call if only the client's metadata says so", async (t) => {
  const acme = await admin.organization('with made-up callbacks')
  const { started_by: startedBy } = await read(acme, await stored(acme, { metadata: { callbackId: 'cb_1' } }))
  t.match(startedBy, { type: 'api_key' })
})

t.test('getCall names the agent, and the time at which the recording begins', async (t) => {
  const acme = await admin.organization('with recordings')
  const body = { name: 'Front desk', systemPrompt: 'x', intent: { language: 'en' } }
  const { id: agentId } = (await call(acme, 'POST', '/v1/agents', body)).json<{ id: string }>()
  const occurredAtMs = Date.parse('2026-11-21T16:00:02.010Z')
  const event = newEvent('recording.recording', { occurredAtMs })
  const id = await stored(acme, { agentId }, [{ kind: 'recording', event, status: 'recording', durationMs: null }])
  t.match(await read(acme, id), { agent_name: 'Front desk', recording_started_at: '2026-11-21T16:00:02.010Z' })
  const silent = await read(acme, await stored(acme, { agentId }))
  t.equal(silent.recording_started_at, null)
})

t.test('getCall has the results of tool calls, and transcripts of sessions do not', async (t) => {
  const acme = await admin.organization('with tools')
  const startedAtMs = Date.parse('2026-11-21T16:00:05.000Z')
  const head = { name: 'find_order', args: '{}', startedAtMs, durationMs: 120 }
  const toolCalls = [
    { ...head, id: 'a', status: 'completed' as const, result: 'shipped\u0000', httpStatus: 200, attempts: 2 },
    { ...head, id: 'b', status: 'failed' as const, result: '{"error":{"code":"timeout"}}', attempts: 1 },
    { id: 'c', name: 'find_order', args: '{}', status: 'started' as const },
  ]
  const turns = [newTurn(), newTurn({ index: 1, source: 'agent', toolCalls })]
  const id = await stored(
    acme,
    {},
    turns.map((turn) => ({ kind: 'turn', turn })),
  )
  const { entries } = (await read(acme, id)).transcript
  const common = { name: 'find_order', args: '{}', started_at: '2026-11-21T16:00:05.000Z', duration_ms: 120 }
  const none = { result: null, http_status: null, started_at: null, duration_ms: null, attempts: null }
  t.same(entries[0]?.tool_calls, [])
  t.same(entries[1]?.tool_calls, [
    {
      ...common,
      id: 'a',
      status: 'completed',
      result: 'shipped\u0000',
      is_error: false,
      http_status: 200,
      attempts: 2,
    },
    {
      ...common,
      id: 'b',
      status: 'failed',
      result: '{"error":{"code":"timeout"}}',
      is_error: true,
      http_status: null,
      attempts: 1,
    },
    { id: 'c', name: 'find_order', args: '{}', status: 'started', is_error: false, ...none },
  ])
  const transcript = (await call(acme, 'GET', `/v1/sessions/${id}/transcript`)).text
  t.notMatch(transcript, 'shipped')
  t.match(JSON.parse(transcript), { entries: [{}, { toolCalls: [{ id: 'a', status: 'completed' }] }] })
})

t.test('results of tools are not stored from the time when the organization drops them', async (t) => {
  const acme = await admin.organization('that drops results')
  const owner = await admin.key(acme.id, { scopes: ['admin'] })
  const made = newCall(acme.id, { keyId: acme.keyId })
  await admin.store.calls.insert(made, {})
  const addTurn = async (index: number, result: string) => {
    const toolCalls = [{ id: 'a', name: 'find_order', args: '{}', status: 'completed' as const, result }]
    const turn = newTurn({ index, source: 'agent', toolCalls })
    t.same(await admin.store.calls.append(made, made.id, [{ kind: 'turn', turn }]), [])
  }
  await addTurn(0, 'shipped')
  await call(owner, 'PATCH', '/v1/organization', { toolResults: 'drop' })
  await addTurn(1, 'k4n4ry')
  await call(owner, 'PATCH', '/v1/organization', { toolResults: 'keep' })
  await addTurn(2, 'delivered')
  const { entries } = (await read(acme, made.id)).transcript
  const results = entries.map(({ tool_calls: [only] }) => only?.result)
  t.same(results, ['shipped', null, 'delivered'], 'a call that is under way obeys, and stored results stay')
  const rows = await sql`select turn::text, tool_results::text from call_turns where call_id = ${made.id}`
  t.notMatch(JSON.stringify(rows), 'k4n4ry')
})

t.test('listCallRequests lists the requests of a call with their turns and attempts', async (t) => {
  const acme = await admin.organization('with requests')
  const startedAtMs = 1_790_000_000_000
  const named = (index: number, ...ids: string[]) => {
    const children = ids.map((id) => newSpan({ kind: 'llm', attributes: { request_id: id } }))
    return { kind: 'span' as const, span: newSpan({ attributes: { index }, children }) }
  }
  const connected = { to: 'in_progress' as const, change: { startedAtMs } }
  const id = await stored(acme, { createdAtMs: startedAtMs - 1000 }, [
    { kind: 'move', event: newEvent('call.in_progress'), ...connected },
    named(1, 'req_stt', 'req_llm'),
    named(3, 'req_stt'),
  ])
  const settle = (requestId: string, more: object) =>
    settled(admin.store, {
      row: { ...ledgerRow(acme.id, requestId, { callId: id, ...more }) },
      choice: choiceIn('en'),
      status: 'succeeded',
      reservedMicroUsd: 0,
    })
  const attempts = [
    ledgerAttempt('att_a', { outcome: 'rate_limited', startedAtMs: startedAtMs + 500 }),
    ledgerAttempt('att_b', { startedAtMs: startedAtMs + 600 }),
  ]
  await settle('req_llm', {
    attemptId: 'att_b',
    stage: 'llm',
    startedAtMs: startedAtMs + 500,
    attempts,
    costMicroUsd: 120,
  })
  await settle('req_stt', { stage: 'stt', startedAtMs: startedAtMs - 20, attempts: [] })
  await settle('req_other', { callId: null })
  const path = `/v1/calls/${id}/requests`
  const { requests, complete } = (await call(acme, 'GET', path)).json<{ requests: object[]; complete: boolean }>()
  t.equal(complete, true)
  t.match(requests, [
    { request_id: 'req_stt', stage: 'stt', turn_index: null, start_ms: -20, attempts: [], has_route: true },
    {
      ...{ request_id: 'req_llm', stage: 'llm', turn_index: 1, start_ms: 500, cost_micro_usd: '120', has_route: true },
      attempts: [
        { attempt_id: 'att_a', outcome: 'rate_limited' },
        { attempt_id: 'att_b', outcome: 'succeeded' },
      ],
    },
  ])
  t.equal(requests.length, 2)
  await sql`
    insert into call_costs (organization_id, test, call_id, stage, provider, model, quantities, key_source, started_at)
    values (${acme.id}, false, ${id}, 'llm', 'a', 'm', '[]', 'platform', now())`
  t.match((await call(acme, 'GET', path)).json(), { complete: false })
  const empty = await call(acme, 'GET', `/v1/calls/${await stored(acme, {})}/requests`)
  t.same(empty.json(), { requests: [], complete: true })
})
