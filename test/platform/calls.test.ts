/** Tests sessions and calls over the public API: the record after a conversation, and the requests that read it. */
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import type { CallEntry } from '../../domain/records/call.ts'
import { newCall, newEvent, newTurn } from '../calls/call.ts'
import { judgedFetch } from '../oracle.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import type { Target } from '../router/requests.ts'
import { follow } from './event-stream.ts'
import { call, faultOf, startAdministered, stubProviders } from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const { parley, admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: stubProviders(stub),
  PARLEY_PUBLIC_URL: 'https://voice.example/',
})

type Call = {
  status: string
  end_reason: string | null
  started_at: string | null
  ended_at: string | null
  duration_seconds: number | null
  recording_status: string | null
  recording_duration_ms: number | null
  created_at: string
  updated_at: string
  pipeline_config: object
  transcript: { entries: { source: string; text: string; index: number; started_at: string; ended_at: string }[] }
  report: { analysis_status: string; outcome: string; cost_micro_usd: string | null; cost_breakdown: object[] } | null
}

const get = async <T>(target: Target, path: string) => (await call(target, 'GET', path)).json<T>()

async function until<T>(read: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    const value = await read()
    if (isDone(value)) return value
    if (tries > 300) throw new Error(`not done: ${JSON.stringify(value).slice(0, 2000)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Says one sentence as text and hangs up after the answer. */
async function converse(url: string, token: string): Promise<void> {
  const socket = new WebSocket(url, ['service.session.v1', `service.ephemeral.${token}`])
  let turns = 0
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) return
      const frame = JSON.parse(data.toString()) as { type: string; name?: string; isFinal?: boolean }
      if (frame.type === 'ready') socket.send(JSON.stringify({ type: 'user_message', text: 'When do you open?' }))
      if (frame.type === 'mark') socket.send(JSON.stringify({ type: 'played', mark: frame.name }))
      if (frame.type === 'agent_message' && frame.isFinal && ++turns === 1) socket.send('{"type":"end"}')
    })
  })
}

type Organization = Target & { id: string }

/**
 * Checks the fields in an ended call, and in its turns, events and call report. The clocks of database and process may
 * differ by a millisecond, so event times are not compared.
 */
async function hasFields(t: Test, acme: Organization, id: string, ended: Call): Promise<void> {
  const path = `/v1/calls/${id}`
  const names = { id, call_id: id, resource_uri: path, recording_resource_uri: `${path}/recording` }
  t.match(ended, { ...names, agent_id: null, kind: 'browser', room_name: `room-${id}`, language: 'en', transfers: [] })
  t.match(ended, { metadata: { cart: '4711' }, span_tree: { version: 1, spans: [{ kind: 'call' }] } })
  inOrder(t, ended.created_at, ended.started_at, ended.ended_at)
  inOrder(t, ended.created_at, ended.updated_at)
  const lengthMs = Date.parse(ended.ended_at ?? '') - Date.parse(ended.started_at ?? '')
  t.equal(ended.duration_seconds, Math.ceil(lengthMs / 1000))

  const { entries } = ended.transcript
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
  t.match(entries, [
    { id: uuid, index: 0, source: 'user', provider: null, model: null, metadata: {} },
    { id: uuid, index: 1, source: 'agent', provider: 'local', model: 'scripted', metadata: { ttsProvider: 'local' } },
  ])
  for (const { started_at: from, ended_at: to } of entries) inOrder(t, ended.started_at, from, to)

  const { events } = await get<{ events: object[] }>(acme, `${path}/events`)
  const time = /^20\d\d-.*Z$/
  const dated = { occurred_at: time, created_at: time }
  for (const event of events)
    t.match(event, { ...dated, id: uuid, session_id: id, organization_id: acme.id, payload: {} })

  const report = await get<Record<string, string>>(acme, `${path}/report`)
  t.match(report, { session_id: id, organization_id: acme.id, metadata: { cart: '4711' } })
  t.same(report['transcript'], ended.transcript)
  inOrder(t, report['created_at'], report['updated_at'])
}

function inOrder(t: Test, ...times: (string | null | undefined)[]): void {
  const read = times.map((time) => Date.parse(time ?? ''))
  t.ok(
    read.every((time, at) => at === 0 || time >= (read[at - 1] ?? Number.NaN)),
    times.join(),
  )
}

t.test('a conversation is recorded, transcribed and reported', async (t) => {
  const acme = await admin.organization('talking')
  await admin.store.organizations.change(acme.id, { recordingEnabled: true })
  const wanted = {
    intent: { language: 'en' },
    systemPrompt: 'Answer: we open at nine.',
    llm: { model: 'local:scripted' },
  }
  const { sessionId, transportToken, transportUrl } = (
    await call(acme, 'POST', '/v1/sessions', { ...wanted, metadata: { cart: '4711' } })
  ).json<{
    sessionId: string
    transportToken: string
    transportUrl: string
  }>()
  t.equal(transportUrl, `wss://voice.example/v1/sessions/${sessionId}/media`)
  const path = `/v1/calls/${sessionId}`
  t.match(faultOf(await call(acme, 'GET', `${path}/report`)), { status: 404, code: 'REPORT_NOT_AVAILABLE' })
  await converse(`${parley.url.replace('http', 'ws')}/v1/sessions/${sessionId}/media`, transportToken)
  const ended = await until(
    () => get<Call>(acme, path),
    ({ report, recording_status }) => report?.analysis_status === 'heuristic' && recording_status === 'ready',
  )
  t.match(ended, { status: 'completed', end_reason: 'user_hangup', recording_status: 'ready' })
  await hasFields(t, acme, sessionId, ended)
  t.match(ended.pipeline_config, wanted)
  t.match(ended.report, { outcome: 'completed', cost_micro_usd: '0' })
  t.ok((ended.report?.cost_breakdown.length ?? 0) > 0, 'the requests of the call are found')
  t.ok((ended.recording_duration_ms ?? 0) > 0)
  t.same(
    ended.transcript.entries.map(({ source }) => source),
    ['user', 'agent'],
  )
  t.equal(ended.transcript.entries[0]?.text, 'When do you open?')
  const { events } = await get<{ events: { event_type: string; occurred_at: string; status: string }[] }>(
    acme,
    `${path}/events`,
  )
  const types = events.map(({ event_type }) => event_type)
  for (const type of [
    'call.in_progress',
    'call.completed',
    'analysis.pending',
    'analysis.heuristic',
    'recording.ready',
  ])
    t.equal(types.filter((each) => each === type).length, 1, type)
  t.same(
    await get(acme, `/v1/sessions/${sessionId}/transcript`).then(
      (answer) => (answer as { entries: object[] }).entries.length,
    ),
    2,
  )

  const { url } = await get<{ url: string }>(acme, `${path}/recording`)
  t.equal(url, `https://voice.example${path}/recording/audio`)
  const audio = await call(acme, 'GET', `${path}/recording/audio`)
  t.equal((await call({ ...acme, key: '' }, 'GET', `${path}/recording/audio`)).status, 401, 'a key is required')
  t.equal(audio.headers.get('content-type'), 'audio/wav')
  t.equal(audio.headers.get('content-disposition'), `inline; filename="call-${sessionId}.wav"`)
  const again = await call(acme, 'POST', `${path}/report/finalize`)
  t.match(again.json(), { outcome: 'completed', webhook: { status: 'not_configured', attempts: 0, endpoints: 0 } })
})

t.test('streamSession sends changes that another process stored, and continues from a given cursor', async (t) => {
  const acme = await admin.organization('following')
  const stored = newCall(acme.id)
  await admin.store.calls.insert(stored, {})
  const path = `/v1/sessions/${stored.id}/stream`
  const stream = await follow(acme, path)
  t.match(await stream.next(), { event: 'status', id: '-1:0', data: { status: 'queued', endedAt: null } })
  const atMs = Date.now()
  const store = (...entries: CallEntry[]) => admin.store.calls.append(stored, stored.id, entries)
  const event = newEvent('call.in_progress', { occurredAtMs: atMs })
  await store({ kind: 'move', event, to: 'in_progress', change: { startedAtMs: atMs } })
  t.match(await stream.next(), { event: 'status', data: { status: 'in_progress' } })
  const begun = await stream.next()
  t.match(begun, { event: 'event', data: { event_type: 'call.in_progress' } })
  const place = Date.parse(String(begun?.data['created_at']))
  t.equal(begun?.id, `-1:${place}`)
  await store(
    { kind: 'turn', turn: newTurn({ text: 'one' }) },
    { kind: 'turn', turn: newTurn({ text: 'two', index: 1 }) },
  )
  t.match(await stream.next(), { event: 'transcript', id: `0:${place}`, data: { text: 'one', index: 0 } })
  t.match(await stream.next(), { event: 'transcript', id: `1:${place}` })
  stream.close()

  const ended = newEvent('call.completed', { occurredAtMs: atMs + 5 })
  await store({
    kind: 'move',
    event: ended,
    to: 'completed',
    change: { endedAtMs: atMs + 5, endReason: 'user_hangup' },
  })
  for (const next of [await follow(acme, `${path}?cursor=0:${place}`), await follow(acme, path, `0:${place}`)]) {
    const seen = await next.rest()
    t.same(
      seen
        .map(({ event, data }) => [event, data['event_type'] ?? data['text'] ?? data['reason'] ?? data['status']])
        .slice(0, 4),
      [
        ['status', 'completed'],
        ['transcript', 'two'],
        ['event', 'call.in_progress'],
        ['event', 'call.completed'],
      ],
    )
    t.match(seen.at(-1), { event: 'end', data: { reason: 'session_ended' } })
  }
  const most = await follow(acme, `${path}?cursor=999999999:99999999999999`)
  t.match(await most.rest(), [{ event: 'status' }, { event: 'end' }], 'no event follows')
  const first = await follow(acme, `${path}?cursor=-1:0`, `1:${place + 5}`)
  t.match((await first.rest())[1], { event: 'transcript', data: { text: 'one' } }, 'a cursor goes before Last-Event-ID')
  const headers = { authorization: `Bearer ${acme.key}`, 'last-event-id': 'x' }
  const malformed = await judgedFetch(`${parley.url}${path}`, { headers })
  t.match([malformed.status, await malformed.json()], [400, { code: 'VALIDATION_ERROR' }])
  for (const cursor of ['1', 'x:1', '-2:0', '0:-1', '01:0', '', '0:100000000000000', '1000000000:0', '0:0:0', '0:0%00'])
    t.match(
      faultOf(await call(acme, 'GET', `${path}?cursor=${cursor}`)),
      { status: 400, code: 'VALIDATION_ERROR' },
      cursor,
    )
})

t.test('a session has at most 32 open event streams', async (t) => {
  const acme = await admin.organization('many streams')
  const stored = newCall(acme.id)
  await admin.store.calls.insert(stored, {})
  const path = `/v1/sessions/${stored.id}/stream`
  const streams = []
  for (let count = 0; count < 32; count++) {
    const stream = await follow(acme, path)
    await stream.next()
    streams.push(stream)
  }
  const refused = await call(acme, 'GET', path)
  t.match(faultOf(refused), { status: 429, code: 'CONCURRENCY_EXHAUSTED' })
  t.ok(refused.headers.get('retry-after'))
  for (const stream of streams) stream.close()
  const open = async () => {
    const answer = await judgedFetch(`${parley.url}${path}`, { headers: { authorization: `Bearer ${acme.key}` } })
    await answer.body?.cancel()
    return answer.status
  }
  t.equal(await until(open, (status) => status === 200), 200, 'a stream that was left makes room')
})
