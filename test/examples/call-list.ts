/** Compares responses of the list of calls with the contract's examples. */
import type { Test } from 'tap'
import type { CallEntry } from '../../domain/records/call.ts'
import { inboundPhone, newCall, newEvent, newSpan, newTurn } from '../calls/call.ts'
import type { Administration } from '../platform/setup.ts'
import { choiceIn, ledgerAttempt, ledgerRow, settled } from '../store/settlement.ts'
import { type Examples, idOf } from './run.ts'

const startMs = Date.parse('2026-11-21T16:00:01.000Z')
const tool = { id: 'call_1', name: 'look_up', args: '{}', status: 'completed' as const }
const answer = { source: 'agent' as const, text: 'Yes, for 20 dollars.', playedText: 'Yes,' }
const turns = [
  { ...answer, conversationalLatencyMs: 370, latencyStatus: 'complete' as const },
  { text: 'Do you have a spare tyre for a racing bicycle?' },
  { ...answer, conversationalLatencyMs: 910, latencyStatus: 'interrupted' as const, toolCalls: [tool] },
]

export async function compareCallList(t: Test, examples: Examples, administration: Administration): Promise<void> {
  const acme = await administration.organization('with a list of calls')
  const none = await examples.send(acme, {
    operation: 'listCalls',
    parameters: ['limit', 'live', 'min_duration_seconds'],
  })
  examples.compare(t, none, { example: 'listCalls 200: none' })
  const agent = { operation: 'createAgent', request: 'least', fields: { name: 'Front desk' } }
  const agentId = idOf(await examples.send(acme, agent))
  await store(administration, newCall(acme.id, { agentId, kind: 'inbound', phone: inboundPhone }))
  const values = { agent_id: agentId, number: '+12125550199' }
  const search = ['agent_id', 'status', 'kind', 'direction', 'end_reason', 'phone_number_id', 'number', 'outcome', 'q']
  const found = await examples.send(acme, { operation: 'listCalls', parameters: search, values })
  examples.compare(t, found, { example: 'listCalls 200: search' })
  const day = new Date().toISOString().slice(0, 10)
  const figures = await examples.send(acme, {
    operation: 'getCallFigures',
    parameters: ['since', 'interval', 'time_zone', 'group_by', 'agent_id', 'kind', 'phone_number_id'],
    values: { agent_id: agentId, since: `${day}T00:00:00.000Z` },
  })
  examples.compare(t, figures, { example: 'getCallFigures 200: kinds' })
}

async function store({ store }: Administration, call: ReturnType<typeof newCall>): Promise<void> {
  await store.calls.insert(call, {})
  const ended = { endedAtMs: startMs + 39_000, endReason: 'user_hangup' as const }
  const entries: CallEntry[] = [
    { kind: 'move', event: newEvent('call.in_progress'), to: 'in_progress', change: { startedAtMs: startMs } },
    ...turns.map((turn, index) => ({ kind: 'turn' as const, turn: newTurn({ index, ...turn }) })),
    { kind: 'recording', event: newEvent('recording.recording'), status: 'recording', durationMs: null },
    { kind: 'recording', event: newEvent('recording.ready'), status: 'ready', durationMs: 39_000 },
    { kind: 'move', event: newEvent('call.completed'), to: 'completed', change: ended },
  ]
  await store.calls.append(call, call.id, entries)
}

export async function compareCallRequests(t: Test, examples: Examples, administration: Administration) {
  const acme = await administration.organization('with requests of a call')
  const { store } = administration
  const call = newCall(acme.id)
  await store.calls.insert(call, {})
  const requestId = 'req_V1StGXR8Z5jdHi6BmyTqK'
  const llm = newSpan({ kind: 'llm', attributes: { request_id: requestId } })
  await store.calls.append(call, call.id, [
    { kind: 'span', span: newSpan({ attributes: { index: 1 }, children: [llm] }) },
  ])
  const quantities = [
    { unit: 'input_tokens', amount: 41 },
    { unit: 'output_tokens', amount: 9 },
  ]
  const made = { provider: 'local', model: 'scripted', priceSource: null, costMicroUsd: 0, quantities }
  const row = ledgerRow(acme.id, requestId, {
    ...made,
    stage: 'llm',
    operation: 'createSession',
    callId: call.id,
    attemptId: 'att_7Hq2mXb0cVtR5sYp1LwEk',
    firstByteMs: 180.2,
    attempts: [ledgerAttempt('att_7Hq2mXb0cVtR5sYp1LwEk', { ...made, firstByteMs: 179.1 })],
  })
  await settled(store, { row, choice: choiceIn('en'), status: 'succeeded', reservedMicroUsd: 0 })
  const found = await examples.send(acme, { operation: 'listCallRequests', values: { id: call.id } })
  examples.compare(t, found, { example: 'listCallRequests 200: answer' })
}
