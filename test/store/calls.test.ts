/** The database rows for calls: row level security, sealed secrets, pages, and the effect of a batch of entries. */
import t from 'tap'
import type { SecretsByTool } from '../../domain/agents/join-tools.ts'
import type { CallEntry } from '../../domain/records/call.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import { newCall, newEvent, newSpan, newTurn, pipeline } from '../calls/call.ts'
import { completed, connected } from '../calls/entries.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const secrets: SecretsByTool = { find: { secret: 'k4n4ry', authHeaders: { 'x-key': 'k4n4ry' } } }

t.test('a session that an earlier version stored without a transport is read as a WebSocket session', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const call = newCall((await organization(store, 'a')).id)
  await store.calls.insert(call, {})
  await cluster.sql(t, url)`update calls set pipeline = (pipeline::jsonb - 'transport')::json`
  t.same(await store.calls.find(call, call.id), call)
})

t.test('calls in LiveKit rooms are listed even if another call has U+0000 in its prompt', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const { id } = await organization(store, 'a')
  const inRoom = newCall(id, { pipeline: { ...pipeline, transport: 'livekit' } })
  await store.calls.insert(inRoom, {})
  await store.calls.insert(newCall(id, { pipeline: { ...pipeline, systemPrompt: 'Be \0 brief.' } }), {})
  t.match(await store.calls.inRooms(), [{ id: inRoom.id }])
})

t.test("row level security shows only one organization's live or test rows", async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const [a, b] = [await organization(store, 'a'), await organization(store, 'b')]
  for (const owner of [a.id, b.id])
    for (const test of [true, false]) {
      const call = newCall(owner, { test })
      await store.calls.insert(call, secrets)
      const entries: CallEntry[] = [
        connected(1),
        { kind: 'turn', turn: newTurn() },
        { kind: 'span', span: newSpan() },
        completed(2),
      ]
      t.same(await store.calls.append(call, call.id, entries), [])
    }
  const host = new URL(url).searchParams.get('host') ?? ''
  const database = new URL(url).pathname.slice(1)
  const sql = connectOnce({ socketDir: host, role: 'parley', database }, 'policy')
  t.teardown(() => sql.end({ timeout: 1 }))
  for (const table of ['calls', 'call_turns', 'call_events', 'call_spans', 'call_reports']) {
    const seen = (id: string | null, world: string | null) =>
      sql.begin(async (tx) => {
        if (id !== null) await tx`select set_config('app.organization', ${id}, true)`
        if (world !== null) await tx`select set_config('app.world', ${world}, true)`
        const rows = await tx<{ owner: string; test: boolean }[]>`
          select distinct organization_id as owner, test from ${tx(table)}`
        return rows.map(({ owner, test }) => `${owner === a.id ? 'a' : 'b'} ${test ? 'test' : 'live'}`)
      })
    t.same(await seen(null, null), [], table)
    t.same(await seen(a.id, null), [], table)
    t.same(await seen(a.id, 'live'), ['a live'], table)
    t.same(await seen(b.id, 'test'), ['b test'], table)
  }
})

t.test('a stored call is read only by its tenant, and its secrets only until the call has ended', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const { id: organizationId } = await organization(store, 'a')
  const call = newCall(organizationId, { identity: 'odd \0 \ud800 😀', metadata: { '\0': ['x', { y: null }] } })
  await store.calls.insert(call, secrets)
  t.same(await store.calls.find(call, call.id), call)
  t.same(await store.calls.findWithSecrets(call, call.id), { call, secrets })
  t.equal(await store.calls.find({ organizationId, test: true }, call.id), null)
  t.equal(await store.calls.find({ organizationId: 'org_other', test: false }, call.id), null)
  for (const odd of ['', 'x', call.id.toUpperCase(), `${call.id}0`, '\0'])
    t.equal(await store.calls.find(call, odd), null)
  const [row] = await cluster.sql(t, url)`select sealed from calls`
  t.notMatch(String((row as { sealed: Buffer }).sealed), 'k4n4ry')
  await store.calls.append(call, call.id, [connected(1), completed(2)])
  t.same((await store.calls.findWithSecrets(call, call.id))?.secrets, {})
})

t.test("`append` changes a call's status, stores a repeated entry once, and refuses illegal changes", async (t) => {
  const store = await cluster.store(t, await cluster.database())
  const { id: organizationId } = await organization(store, 'a')
  const call = newCall(organizationId)
  await store.calls.insert(call, {})
  const turns = [newTurn(), newTurn({ index: 1, source: 'agent', playedText: 'At nine. \0' })]
  const batch: CallEntry[] = [
    connected(1_790_000_000_000),
    { kind: 'event', event: newEvent('room.participant_joined', { occurredAtMs: 1_790_000_000_001 }) },
    ...turns.map((turn) => ({ kind: 'turn' as const, turn })),
    { kind: 'span', span: newSpan() },
    {
      kind: 'recording',
      event: newEvent('recording.recording', { occurredAtMs: 1_790_000_000_002 }),
      status: 'recording',
      durationMs: null,
    },
  ]
  for (let times = 0; times < 2; times++) t.same(await store.calls.append(call, call.id, batch), [])
  t.match(await store.calls.find(call, call.id), {
    status: 'in_progress',
    startedAtMs: 1_790_000_000_000,
    recordingStatus: 'recording',
  })
  t.same(await store.callRecord.turns(call, call.id, -1), turns)
  t.same(await store.callRecord.turns(call, call.id, 0), turns.slice(1))
  t.same(await store.callRecord.turns({ organizationId, test: true }, call.id, -1), [])
  t.equal((await store.wholeCalls.find(call, call.id))?.spans.length, 1)
  const events = () => store.callRecord.events(call, call.id, 0)
  t.same(
    (await events()).map(({ type, status }) => `${type} ${status}`),
    ['call.in_progress in_progress', 'room.participant_joined in_progress', 'recording.recording in_progress'],
  )
  const again = connected(1_790_000_000_003)
  t.same(await store.calls.append(call, call.id, [again]), [again], 'it is in progress already')
  t.equal((await events()).length, 3, 'a refused move leaves no event')
  t.equal(await store.reports.find(call, call.id), null)
  const [first, second] = [completed(1_790_000_005_000), completed(1_790_000_006_000)]
  t.same(await store.calls.append(call, call.id, [first, second]), [second])
  t.match(await store.calls.find(call, call.id), { status: 'completed', endReason: 'user_hangup' })
  t.match(await store.reports.find(call, call.id), { analysisStatus: 'pending', version: 1, summary: '' })
  t.same(
    (await events()).slice(3).map(({ type }) => type),
    ['call.completed', 'analysis.pending'],
  )
})

t.test('the created_at of a call event is never before that of an earlier event', async (t) => {
  const url = await cluster.database()
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() - 3_600_000 }
  const [store, behind] = [await cluster.store(t, url), await cluster.store(t, url, { clock })]
  const call = newCall((await organization(store, 'a')).id)
  await store.calls.insert(call, {})
  const event = (type: 'room.participant_joined' | 'room.participant_left', occurredAtMs: number): CallEntry => ({
    kind: 'event',
    event: newEvent(type, { occurredAtMs }),
  })
  await store.calls.append(call, call.id, [event('room.participant_left', 2)])
  const [left] = await store.callRecord.events(call, call.id, 0)
  await behind.calls.append(call, call.id, [event('room.participant_joined', 1)])
  const since = await store.callRecord.events(call, call.id, left?.createdAtMs ?? 0)
  t.same(
    since.map(({ type }) => type),
    ['room.participant_joined', 'room.participant_left'],
    'the first to happen first',
  )
})

t.test('lists of calls are paged, newest first', async (t) => {
  const store = await cluster.store(t, await cluster.database())
  const { id: organizationId } = await organization(store, 'a')
  const tenant = { organizationId, test: false }
  const createdAtMs = 1_790_000_000_000
  const made: string[] = []
  for (let index = 0; index < 7; index++) {
    const call = newCall(organizationId, { createdAtMs, agentId: index % 2 === 0 ? 'agent_even' : 'agent_odd' })
    await store.calls.insert(call, {})
    made.unshift(call.id)
  }
  await store.calls.insert(newCall(organizationId, { createdAtMs, test: true }), {})
  const listed: string[] = []
  for (let after = null, pages = 0; pages < 4; pages++) {
    const page = await store.calls.list(tenant, {}, 3, after)
    listed.push(...page.calls.map(({ id }) => id))
    after = page.next as never
    if (after === null) break
  }
  t.same(listed, made, 'calls of one millisecond have separate microseconds')
  t.equal((await store.calls.list(tenant, { agentId: 'agent_even' }, 10, null)).calls.length, 4)
  t.equal((await store.calls.list(tenant, { agentId: 'agent_even', status: 'completed' }, 10, null)).calls.length, 0)
  t.equal((await store.calls.list(tenant, { fromMs: createdAtMs, toMs: createdAtMs + 1 }, 10, null)).calls.length, 7)
  t.equal((await store.calls.list(tenant, { toMs: createdAtMs }, 10, null)).calls.length, 0)

  const first = await store.calls.listOfAgent(tenant, 'agent_even', 3, { beforeUs: null, sinceUs: null })
  t.equal(first.calls.length, 3)
  const rest = await store.calls.listOfAgent(tenant, 'agent_even', 3, { beforeUs: first.nextUs, sinceUs: null })
  t.same([rest.calls.length, rest.nextUs], [1, null])
  const since = { beforeUs: null, sinceUs: first.nextUs }
  t.equal((await store.calls.listOfAgent(tenant, 'agent_even', 9, since)).calls.length, 3)
})

t.test('if calls of an agent have the same time, the pages neither skip nor repeat a call', async (t) => {
  const url = await cluster.database()
  const [one, two] = [await cluster.store(t, url), await cluster.store(t, url)]
  const { id: organizationId } = await organization(one, 'a')
  const tenant = { organizationId, test: false }
  const createdAtMs = 1_790_000_000_000
  for (const store of [one, two, one, two])
    await store.calls.insert(newCall(organizationId, { createdAtMs, agentId: 'agent_1' }), {})
  const page = await one.calls.listOfAgent(tenant, 'agent_1', 1, { beforeUs: null, sinceUs: null })
  t.equal(page.calls.length, 2)
  const next = await one.calls.listOfAgent(tenant, 'agent_1', 5, { beforeUs: page.nextUs, sinceUs: null })
  t.same([next.calls.length, next.nextUs], [2, null])
})

t.test('every process is notified of a change of a call', async (t) => {
  const url = await cluster.database()
  const [one, two] = [await cluster.store(t, url), await cluster.store(t, url)]
  const { id: organizationId } = await organization(one, 'a')
  const call = newCall(organizationId)
  await one.calls.insert(call, {})
  let stop = () => {}
  const seen = new Promise<void>((resolve) => {
    stop = two.callChanges.watch(call.id, resolve)
  })
  await one.calls.append(call, call.id, [connected(1)])
  await seen
  stop()
})

t.test('a process lists its recording uploads and the unfinished uploads of dead processes', async (t) => {
  const clock = storeClock()
  const store = await cluster.store(t, await cluster.database(), { clock })
  const { id: organizationId } = await organization(store, 'a')
  const make = async (owner: string, steps: readonly CallEntry[], test = false) => {
    const call = newCall(organizationId, { test, createdAtMs: clock.nowMs(), expiresAtMs: clock.nowMs() + 900_000 })
    await store.calls.insert(call, {})
    t.ok(await store.calls.claim(call, call.id, owner, null))
    await store.calls.append(call, call.id, steps)
    return call
  }
  const recording = (status: 'recording' | 'uploading' | 'ready'): CallEntry => {
    return { kind: 'recording', event: newEvent(`recording.${status}`), status, durationMs: null }
  }
  const uploading = () => [connected(1000), recording('recording'), recording('uploading')]
  await make(store.instanceId, uploading())
  await make(store.instanceId, [connected(1000), recording('recording'), recording('ready'), completed(3000)])
  const left = await make('dead', [...uploading(), completed(2000)])
  const own = await make(store.instanceId, [...uploading(), completed(5000)], true)
  const due = await store.recordingUploads.due()
  t.same(
    due.map(({ id, test, isOwn, endedAtMs }) => [id, test, isOwn, endedAtMs]),
    [
      [own.id, true, true, 5000],
      [left.id, false, false, 2000],
    ],
    'of calls that are over, those of this process first',
  )
  t.equal(await store.recordingUploads.takeOver(due[1]!), true)
  t.equal(await store.recordingUploads.takeOver(due[1]!), false, 'another process would be too late')
  t.match(
    await store.recordingUploads.due(),
    [
      { id: left.id, isOwn: true },
      { id: own.id, isOwn: true },
    ],
    'the oldest first',
  )
  await store.calls.append(left, left.id, [recording('ready')])
  t.equal((await store.recordingUploads.due()).length, 1)
})
