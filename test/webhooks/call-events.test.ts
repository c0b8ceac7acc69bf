/** Tests call events: their types, their time, their endpoints and their fields. Uses a real Postgres. */
import t from 'tap'
import type { Call, CallEntry } from '../../domain/records/call.ts'
import type { ExtractionField } from '../../domain/records/webhook-endpoint.ts'
import { reportBytesMax } from '../../handlers/platform/event-payloads.ts'
import { newEvent, newTurn, pipeline } from '../calls/call.ts'
import { TestCluster } from '../store/cluster.ts'
import {
  all,
  analysis,
  append,
  connected,
  ended,
  exampleOf,
  faultOf,
  openWorld,
  recording,
  spoken,
} from './call-events.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('a recorded call sends all four webhook events, and a second report when the recording is ready', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: all })
  const call = await world.call()
  await append(world, call, connected(), recording('recording'), spoken())
  t.same(await world.names(call), ['call.status'])
  await append(world, call, ended(), recording('uploading'))
  t.same(await world.names(call), ['call.status', 'call.status'], 'the report waits for the analysis')
  await world.store.reports.complete(call, call.id, analysis(), true)
  t.same((await world.names(call)).slice(2).sort(), ['call.analysis', 'call.report 1'])
  await append(world, call, recording('ready'))
  t.same((await world.names(call)).slice(4).sort(), ['call.recording', 'call.report 2'])
  await world.store.reports.complete(call, call.id, analysis({ summary: 'Again.' }), false)
  t.same((await world.names(call)).slice(6), ['call.report 3'])

  const events = await world.events(call)
  for (const { type, body } of events) {
    t.equal(faultOf(type, body), null, type)
    t.same(Object.keys(body), Object.keys(exampleOf(type)), `${type}: the fields of the example in the spec`)
  }
  const [joined, left] = events
  const stored = await world.store.callRecord.events(call, call.id, 0)
  t.match(joined?.body, {
    type: 'call.status',
    call_id: call.id,
    session_id: call.id,
    organization_id: call.organizationId,
    agent_id: null,
    metadata: { cart: '4711' },
    webhook_tags: { team: 'shop' },
    event_id: stored[0]?.id,
    event_type: 'call.in_progress',
    provider: 'service',
    status: 'in_progress',
    failure_cause: null,
    sip_status_code: null,
    sip_status: null,
    occurred_at: new Date(stored[0]?.occurredAtMs ?? 0).toISOString(),
  })
  t.equal(joined?.id, stored[0]?.id, 'the event of the call and its webhook have one id')
  t.match(left?.body, { event_type: 'call.completed', status: 'completed' })
  const reports = events.filter(({ type }) => type === 'call.report')
  t.match(reports[0]?.body, {
    version: 1,
    direction: 'browser',
    status: 'completed',
    end_reason: 'user_hangup',
    to: null,
    from: null,
    duration_seconds: 58,
    transcript: { entries: [{ text: 'When do you open?' }] },
    summary: 'The user asked for the opening hours.',
    outcome: 'resolved',
    structured_data: { topics: ['opening hours'] },
    cost_micro_usd: '0',
    cost_breakdown: [],
    artifacts: { recording: { status: 'uploading', url: null }, transcript: { entries_total: 1, truncated: false } },
    scheduled_callback: null,
    recording_url: null,
    custom_data: {},
    analysis: { status: 'completed', provider: 'main', model: 'chat', completed_at: /^20/ },
  })
  const link = `https://parley.example/recordings/${call.id}.wav?signature=s`
  t.match(reports[1]?.body, { version: 2, recording_url: link, artifacts: { recording: { status: 'ready' } } })
  t.match(reports[2]?.body, { version: 3, recording_url: link, summary: 'Again.' })
  t.same(
    reports.map(({ status }) => status),
    ['cancelled', 'cancelled', 'pending'],
    'an older report is superseded',
  )
  const shown = await world.store.reports.find(call, call.id)
  t.equal(shown?.version, 3)
  t.match(events.find(({ type }) => type === 'call.recording')?.body, {
    recording_url: link,
    recording: { status: 'ready', duration_ms: 57_400 },
  })
  const analysed = events.find(({ type }) => type === 'call.analysis')?.body ?? {}
  t.notOk('transcript' in analysed)
  t.match(analysed, { summary: 'The user asked for the opening hours.', analysis: { status: 'completed' } })
})

t.test('if the recording ends before the analysis, only one call report is sent, with the recording', async (t) => {
  for (const status of ['ready', 'failed'] as const) {
    const world = await openWorld(t, cluster)
    await world.endpoint({ events: all })
    const call = await world.call()
    await append(world, call, connected(), recording('recording'), spoken(), ended(), recording(status))
    t.same(await world.names(call), ['call.status', 'call.status', 'call.recording'])
    await world.store.reports.complete(call, call.id, analysis(), true)
    const events = await world.events(call)
    t.equal(events.length, 5)
    t.match(events.find(({ type }) => type === 'call.report')?.body, {
      version: 1,
      artifacts: { recording: { status } },
      recording_url: status === 'ready' ? /^https/ : null,
    })
    t.match(events.find(({ type }) => type === 'call.recording')?.body, {
      recording_url: status === 'ready' ? /^https/ : null,
      recording: { status, duration_ms: status === 'ready' ? 57_400 : null },
    })
  }
})

t.test('if the recording fails after the call report was sent, no other report is sent', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: all })
  const call = await world.call()
  await append(world, call, connected(), recording('recording'), spoken(), ended())
  await world.store.reports.complete(call, call.id, analysis({ status: 'failed', error: 'No.' }), true)
  await append(world, call, recording('failed'))
  t.same((await world.names(call)).slice(2).sort(), ['call.analysis', 'call.recording', 'call.report 1'])
  t.equal((await world.store.reports.find(call, call.id))?.version, 1)
})

t.test('a call that never connected sends a report, and a call that nobody joined only call.status', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: all })
  const cancelled = await world.call()
  await world.store.calls.endUnowned(cancelled, cancelled.id, 'api_ended')
  const events = await world.events(cancelled)
  t.same(
    events.map(({ type }) => type).sort(),
    ['call.analysis', 'call.report', 'call.status'],
    'no event of a recording',
  )
  for (const { type, body } of events) t.equal(faultOf(type, body), null, type)
  t.match(events.find(({ type }) => type === 'call.report')?.body, {
    version: 1,
    status: 'cancelled',
    duration_seconds: 0,
    transcript: { entries: [] },
    artifacts: { recording: { status: 'suppressed', url: null } },
    analysis: { status: 'heuristic', provider: null, model: null },
  })
  const unjoined = await world.call({ expiresAtMs: Date.now() - 1 })
  await world.store.calls.endUnowned(unjoined, unjoined.id, 'not_joined')
  t.same(await world.names(unjoined), ['call.status'])
  t.match((await world.events(unjoined))[0]?.body, { event_type: 'call.cancelled' })
})

t.test('status events of a call are sent as call.status, but events about rooms or agents are not', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: ['call.status'] })
  const call = await world.call()
  const types = ['room.participant_joined', 'agent.failover', 'call.variables_missing', 'budget.exhausted'] as const
  await append(world, call, ...types.map((type): CallEntry => ({ kind: 'event', event: newEvent(type) })))
  t.same(
    (await world.events(call)).map(({ body }) => body['event_type']),
    ['call.variables_missing'],
  )
})

t.test('a change of a call that is rolled back or repeated sends no event', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: all })
  const call = await world.call()
  const [join, end] = [connected(), ended()]
  const broken = { kind: 'span', span: { id: '1', kind: 'turn', startMs: 'x' } } as unknown as CallEntry
  await t.rejects(world.store.calls.append(call, call.id, [join, broken]))
  t.same(await world.names(call), [])
  t.match(await world.store.calls.find(call, call.id), { status: 'queued' })
  for (let times = 0; times < 3; times++) await world.store.calls.append(call, call.id, [join])
  t.same(await world.names(call), ['call.status'])
  for (let times = 0; times < 2; times++)
    await world.store.calls.append(call, call.id, [join, end, recording('failed')])
  t.same(await world.names(call), ['call.status', 'call.status', 'call.recording'])
  const first = { ...analysis(), status: 'heuristic' as const }
  await Promise.all([1, 2, 3].map(() => world.store.reports.complete(call, call.id, first, true)))
  t.same((await world.names(call)).slice(3).sort(), ['call.analysis', 'call.report 1'], 'the first one comes once')
})

t.test('if a recording becomes ready while a call report is written, the last report has the recording', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: all })
  for (let round = 0; round < 8; round++) {
    const call = await world.call()
    await append(world, call, connected(), recording('recording'), spoken(), ended())
    await Promise.all([
      world.store.reports.complete(call, call.id, analysis(), true),
      append(world, call, recording('ready')),
    ])
    const reports = (await world.events(call)).filter(({ type }) => type === 'call.report')
    t.match(reports.at(-1)?.body, { artifacts: { recording: { status: 'ready' } }, recording_url: /^https/ })
    t.equal(reports.at(-1)?.version, reports.length)
  }
})

t.test('endpoints match by event type, agent, tags and test mode, as they are when the call ends', async (t) => {
  const world = await openWorld(t, cluster)
  const { sql } = world
  const agentId = 'agent_0123456789012345678901'
  const everybody = await world.endpoint({ events: ['call.report'] })
  const ofAgent = await world.endpoint({ events: ['call.report'], agentIds: [agentId] })
  const ofTag = await world.endpoint({ events: ['call.report'], filterTags: { team: 'shop' } })
  await world.endpoint({ events: ['call.report'], filterTags: { team: 'Shop' } })
  await world.endpoint({ events: ['call.report'], filterTags: { team: 'shop', more: 'x' } })
  await world.endpoint({ events: ['call.report'], test: true })
  await world.endpoint({ events: ['call.status'] })
  const gone = await world.endpoint({ events: ['call.report', 'call.analysis'] })
  const disabled = await world.endpoint({ events: ['call.report'] })
  const reportsOf = async (call: Call) => {
    const found = (await world.events(call)).filter(({ type }) => type === 'call.report')
    return found.map(({ endpointId }) => endpointId).sort()
  }
  const adHoc = await world.call()
  await append(world, adHoc, connected(), ended())
  const stored = await world.call({ agentId })
  await append(world, stored, connected(), ended())
  await sql`delete from webhook_endpoints where id = ${gone}`
  await sql`update webhook_endpoints set disabled_at = now(), disabled_reason = 'manual' where id = ${disabled}`
  await world.endpoint({ events: ['call.report'] })
  await sql`update webhook_endpoints set events = '["call.status"]' where id = ${everybody}`
  for (const call of [adHoc, stored]) await world.store.reports.complete(call, call.id, analysis(), true)
  t.same(await reportsOf(adHoc), [everybody, ofTag].sort())
  t.same(await reportsOf(stored), [everybody, ofAgent, ofTag].sort())
  const [event, ...others] = (await world.events(stored)).filter(({ type }) => type === 'call.report')
  t.ok(
    others.every(({ id }) => id === event?.id),
    'one event for all endpoints',
  )
})

t.test("each endpoint gets the values of its extraction fields, else of the agent's fields", async (t) => {
  const world = await openWorld(t, cluster)
  const field = (name: string, type: ExtractionField['type'] = 'string'): ExtractionField => ({
    name,
    type,
    description: name,
  })
  const plain = await world.endpoint({ events: ['call.report', 'call.analysis'] })
  const own = await world.endpoint({ events: ['call.report'], fields: [field('day'), field('guests', 'number')] })
  const other = await world.endpoint({ events: ['call.report'], fields: [field('guests'), field('name')] })
  const call = await world.call({ pipeline: { ...pipeline, extractionFields: [field('name')] } })
  await append(world, call, connected(), spoken(), ended())
  t.match(await world.store.reports.find(call, call.id), { customData: { day: null, guests: null, name: null } })
  const claim = await world.store.reports.claim(call, call.id, () => Date.now() + 60_000)
  t.match(claim, { state: 'claimed', report: { analysisStatus: 'pending', version: 1 } })
  t.same('endpoints' in claim && claim.endpoints.map(({ endpointId, fields }) => [endpointId, fields.length]), [
    [plain, 0],
    [own, 2],
    [other, 2],
  ])
  t.same(await world.store.reports.claim(call, call.id, () => Date.now() + 60_000), { state: 'taken' })
  const endpointData = {
    [own]: { day: 'today', guests: 4, name: 'Ada' },
    [other]: { guests: 'four', name: 'Ada' },
  }
  const customData = { day: 'today', guests: 4, name: 'Ada' }
  await world.store.reports.complete(call, call.id, analysis({ customData, endpointData }), true)
  const dataOf = async (id: string) => {
    const found = (await world.events(call)).filter(({ endpointId }) => endpointId === id)
    return found.map(({ type, body }) => [type, body['custom_data']])
  }
  t.same((await dataOf(plain)).sort(), [
    ['call.analysis', { name: 'Ada' }],
    ['call.report', { name: 'Ada' }],
  ])
  t.same(await dataOf(own), [['call.report', endpointData[own]]])
  t.same(await dataOf(other), [['call.report', endpointData[other]]])
  await world.store.reports.complete(call, call.id, null, false)
  t.equal((await world.events(call)).length, 4)
})

t.test('a call report over 4 MiB omits the oldest turns, and a report of 4 MiB is complete', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: ['call.report'] })
  const make = async (texts: string[]) => {
    const call = await world.call()
    await append(world, call, connected())
    for (let at = 0; at < texts.length; at += 100) {
      const part = texts.slice(at, at + 100)
      await append(
        world,
        call,
        ...part.map((text, n): CallEntry => ({ kind: 'turn', turn: newTurn({ index: at + n, text }) })),
      )
    }
    await append(world, call, ended())
    await world.store.reports.complete(call, call.id, analysis(), true)
    return (await world.events(call))[0]
  }
  const one = await make([''])
  const [entry] = (one?.body['transcript'] as { entries: object[] }).entries
  const turns = 260
  const perTurn = Math.floor((reportBytesMax - (one?.bytes.length ?? 0)) / turns) - JSON.stringify(entry).length - 10
  const texts = Array.from({ length: turns }, () => 'x'.repeat(perTurn))
  const missing = reportBytesMax - ((await make(texts))?.bytes.length ?? 0)
  for (let at = 0; at < missing; at++) texts[at % turns] += 'x'
  const exact = await make(texts)
  t.equal(exact?.bytes.length, reportBytesMax)
  t.match(exact?.body, { artifacts: { transcript: { entries_total: turns, truncated: false } } })
  const over = await make([...texts.slice(0, -1), `${texts.at(-1)}x`])
  const entries = (over?.body['transcript'] as { entries: { index: number }[] }).entries
  t.equal(entries.length, turns - 1)
  t.equal(entries[0]?.index, 1, 'the first turn is left out')
  t.match(over?.body, { artifacts: { transcript: { entries_total: turns, truncated: true } } })
  t.ok((over?.bytes.length ?? 0) <= reportBytesMax)
  t.equal(faultOf('call.report', over?.body ?? {}), null)
})

t.test('events of calls made with test keys are marked as tests, and go only to test endpoints', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: all })
  const endpoint = await world.endpoint({ events: all, test: true })
  const call = await world.call({ test: true })
  await append(world, call, connected(), ended())
  const events = await world.events(call)
  t.ok(events.every(({ endpointId, body }) => endpointId === endpoint && body['test'] === true))
  t.equal(events.length, 2)
})
