/** The stream of all calls over the public API: calls that begin, change, end, and no longer match the filters. */
import t from 'tap'
import type { Call, CallEntry } from '../../domain/records/call.ts'
import { inboundPhone, newCall, newEvent, newTurn } from '../calls/call.ts'
import type { Target } from '../router/requests.ts'
import { follow } from './event-stream.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { admin } = await startAdministered(t)

async function opened(target: Target, query = '') {
  const stream = await follow(target, `/v1/calls/stream${query}`)
  t.match(await stream.next(), { event: 'open', data: { test: false } })
  return stream
}

const append = (stored: Call, ...entries: CallEntry[]) => admin.store.calls.append(stored, stored.id, entries)

async function begin(organizationId: string, more: Partial<Call> = {}): Promise<Call> {
  const stored = newCall(organizationId, more)
  await admin.store.calls.insert(stored, {})
  return stored
}

function moved(to: 'in_progress' | 'completed'): CallEntry {
  const atMs = Date.now()
  const change = to === 'completed' ? { endedAtMs: atMs, endReason: 'user_hangup' as const } : { startedAtMs: atMs }
  return { kind: 'move', event: newEvent(`call.${to}`, { occurredAtMs: atMs }), to, change }
}

t.test('streamCalls sends a call as listCalls shows it, when it begins, changes and ends', async (t) => {
  const acme = await admin.organization('with a live list')
  const stream = await opened(acme)
  const stored = await begin(acme.id, { kind: 'inbound', phone: inboundPhone })
  t.match(await stream.next(), { event: 'call', data: { id: stored.id, status: 'queued', kind: 'inbound' } })
  await append(stored, moved('in_progress'), { kind: 'turn', turn: newTurn({ text: 'one' }) })
  t.match(await stream.next(), { event: 'call', data: { id: stored.id, status: 'in_progress', turns: 1 } })
  await append(stored, moved('completed'))
  const last = await stream.next()
  t.match(last, { event: 'call', data: { id: stored.id, status: 'completed', cost_micro_usd: null } })
  const { calls } = (await call(acme, 'GET', '/v1/calls')).json<{ calls: object[] }>()
  t.same(last?.data, calls[0])
  // The call report may change the call before its cost is summed.
  let later = await stream.next()
  while (later?.event === 'call' && later.data['cost_micro_usd'] === null) later = await stream.next()
  t.match(later, { event: 'call', data: { cost_micro_usd: '0' } }, 'the cost comes later')
  stream.close()
})

t.test('streamCalls says that a changed call does not match the filters', async (t) => {
  const acme = await admin.organization('with a list of live calls')
  const stored = await begin(acme.id, { kind: 'inbound', phone: inboundPhone })
  const live = await opened(acme, '?live=true')
  const outbound = await opened(acme, '?kind=outbound&number=0199')
  await append(stored, moved('in_progress'))
  t.match(await live.next(), { event: 'call', data: { id: stored.id } })
  t.same((await outbound.next())?.data, { id: stored.id })
  await append(stored, moved('completed'))
  t.match(await live.next(), { event: 'gone', data: { id: stored.id } })
  for (const stream of [live, outbound]) stream.close()
})

t.test('streamCalls sends no call of another organization, and separates live calls from test calls', async (t) => {
  const acme = await admin.organization('that listens')
  const other = await admin.organization('that calls')
  const stream = await opened(acme)
  const test = await follow(await admin.key(acme.id, { test: true }), '/v1/calls/stream')
  t.match(await test.next(), { event: 'open', data: { test: true } })
  await begin(other.id)
  const trial = await begin(acme.id, { test: true })
  const own = await begin(acme.id)
  t.match(await stream.next(), { event: 'call', data: { id: own.id } })
  t.match(await test.next(), { event: 'call', data: { id: trial.id, test: true } })
  for (const each of [stream, test]) each.close()
})

t.test('an organization has at most 8 streams of its calls', async (t) => {
  const acme = await admin.organization('with many lists')
  const streams = []
  for (let count = 0; count < 8; count++) streams.push(await opened(acme))
  const refused = await call(acme, 'GET', '/v1/calls/stream')
  t.match(faultOf(refused), { status: 429, code: 'CONCURRENCY_EXHAUSTED' })
  t.ok(refused.headers.get('retry-after'))
  for (const stream of streams) stream.close()
})

t.test('streamCalls refuses a filter that is not in its contract', async (t) => {
  const acme = await admin.organization('with a wrong filter')
  for (const query of ['status=loud', 'live=perhaps', 'since=yesterday'])
    t.match(faultOf(await call(acme, 'GET', `/v1/calls/stream?${query}`)), { status: 400, code: 'VALIDATION_ERROR' })
})
