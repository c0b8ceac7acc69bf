/** Tests scheduled callbacks over the public API, and a callback that an agent promises in a conversation. */
import t from 'tap'
import { WebSocket } from 'ws'
import type { Call } from '../../domain/records/call.ts'
import type { Callback } from '../../domain/records/callback.ts'
import type { Pipeline } from '../../domain/records/pipeline.ts'
import type { BuiltinConfig } from '../../domain/records/tool.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { callbackOf, hourMs, promised } from '../callbacks/callback.ts'
import { newCall, newEvent, pipeline } from '../calls/call.ts'
import type { Target } from '../router/requests.ts'
import { serverInTime } from '../time/server.ts'
import { call, faultOf, openAdministration } from './setup.ts'

const server = await serverInTime(t)
const { clock } = server
const admin = await openAdministration(server)
t.teardown(() => admin.close())
const organization = async (name: string) => ({ ...(await admin.organization(name)), clock })

type Shown = {
  id: string
  status: string
  failure_cause: string | null
  to_number: string
  scheduled_at: string
  reason: string | null
  attempted_at: string | null
  cancelled_at: string | null
}
type Page = { callbacks: Shown[]; next_cursor: string | null }

const get = async <T>(target: Target, path: string) => (await call(target, 'GET', path)).json<T>()
const post = (target: Target, path: string, body?: object) => call(target, 'POST', path, body)

/** Makes a call with a callback that is due in an hour. */
async function makeCallback(organizationId: string, more: Partial<Callback> = {}, settings: Partial<Call> = {}) {
  const session = newCall(organizationId, settings)
  await admin.store.calls.insert(session, {})
  const nowMs = clock.nowMs()
  const scheduledAtMs = nowMs + hourMs
  const callback = callbackOf(session, { scheduledAtMs, nextTryAtMs: scheduledAtMs, ...more }, nowMs)
  await admin.store.calls.append(session, session.id, [promised(callback)])
  // Gives the call's next event a later time.
  await clock.advance(1)
  return { session, id: callback.id }
}

t.test('cancelCallback cancels a scheduled callback once, with its reason in the events of the call', async (t) => {
  const acme = await organization('cancelling')
  const { session, id } = await makeCallback(acme.id)
  const path = `/v1/callbacks/${id}/cancel`
  t.same(faultOf(await post(acme, path, { reason: 'x'.repeat(501) })), {
    status: 400,
    code: 'VALIDATION_ERROR',
    paths: ['/reason'],
  })
  const cancelled = await post(acme, path, { reason: '😀'.repeat(500) })
  t.match([cancelled.status, cancelled.json()], [200, { id, status: 'cancelled', cancelled_at: String }])
  t.same(await get(acme, `/v1/callbacks/${id}`), cancelled.json())
  for (const way of ['cancel', 'dispatch']) {
    const again = await post(acme, `/v1/callbacks/${id}/${way}`)
    t.same(faultOf(again), { status: 409, code: 'CALLBACK_NOT_SCHEDULED' })
    t.match(again.json(), { error: /its status is cancelled/ })
  }
  const { events } = await get<{ events: { event_type: string; payload: object }[] }>(
    acme,
    `/v1/calls/${session.id}/events`,
  )
  t.same(
    events
      .filter(({ event_type }) => event_type.startsWith('callback.'))
      .map(({ event_type, payload }) => [event_type, payload]),
    [
      ['callback.scheduled', { callback_id: id }],
      ['callback.cancelled', { callback_id: id, reason: '😀'.repeat(500) }],
    ],
  )
  const { id: second } = await makeCallback(acme.id)
  t.equal((await post(acme, `/v1/callbacks/${second}/cancel`, {})).status, 200, 'an empty body')
  const { id: third } = await makeCallback(acme.id)
  t.equal((await post(acme, `/v1/callbacks/${third}/cancel`, { reason: null })).status, 200)
})

t.test('if the session has no phone number, dispatchCallback leaves the callback scheduled', async (t) => {
  const acme = await organization('dispatching')
  const { id } = await makeCallback(acme.id)
  const dispatched = await post(acme, `/v1/callbacks/${id}/dispatch`)
  t.same(faultOf(dispatched), { status: 502, code: 'CARRIER_DIAL_FAILED' })
  t.match(dispatched.json(), { error: /has no phone number to call from/ })
  t.match(await get(acme, `/v1/callbacks/${id}`), {
    status: 'scheduled',
    failure_cause: 'no_phone_number',
    attempted_at: String,
    dispatched_at: null,
    from_number: null,
    phone_number_id: null,
  })
})

t.test("before its call is placed, a callback shows the phone number id from the agent's tool settings", async (t) => {
  const acme = await organization('numbers of tools')
  const shownWith = async (...configs: (BuiltinConfig | null)[]) => {
    const tools = configs.map((config): Pipeline['tools'][number] => ({
      name: 'schedule_callback',
      description: 'Promises a call.',
      parameters: {},
      preToolSpeech: 'never',
      source: { kind: 'builtin', name: 'schedule_callback', config },
    }))
    const { id } = await makeCallback(acme.id, {}, { pipeline: { ...pipeline, tools } })
    return (await get<{ phone_number_id: string | null }>(acme, `/v1/callbacks/${id}`)).phone_number_id
  }
  const phoneNumberId = 'pn_5Tg8rXq1LmZb6vKcYw3NdE'
  t.equal(await shownWith({ phoneNumberId }), phoneNumberId)
  t.equal(await shownWith({ maxDaysAhead: 3 }), null)
  t.equal(await shownWith(null), null)
  t.equal(await shownWith(null, { phoneNumberId }), phoneNumberId, 'of the first tool that names one')
  const { callbacks } = await get<{ callbacks: { phone_number_id: string | null }[] }>(acme, '/v1/callbacks')
  t.same(
    callbacks.map(({ phone_number_id: id }) => id),
    [phoneNumberId, null, null, phoneNumberId],
    'in lists too',
  )
})

t.test('listCallbacks pages, filters, and refuses wrong values', async (t) => {
  const acme = await organization('listing')
  const made: { id: string; session: { id: string } }[] = []
  for (let at = 0; at < 26; at++) made.unshift(await makeCallback(acme.id))
  await post(acme, `/v1/callbacks/${made[0]!.id}/cancel`)
  const list = (query: string) => get<Page>(acme, `/v1/callbacks${query}`)
  const ids = ({ callbacks }: Page) => callbacks.map(({ id }) => id)
  const first = await list('')
  t.equal(first.callbacks.length, 25)
  const rest = await list(`?cursor=${first.next_cursor}`)
  t.equal(rest.next_cursor, null)
  t.same([...ids(first), ...ids(rest)].sort(), made.map(({ id }) => id).sort())
  t.equal(ids(await list('?limit=100')).length, 26)
  t.equal(ids(await list('?limit=1')).length, 1)
  t.same(ids(await list('?status=cancelled')), [made[0]!.id])
  t.same(ids(await list(`?source_session_id=${made[3]!.session.id}`)), [made[3]!.id])
  t.same(await list(`?source_session_id=${made[3]!.session.id}&status=failed`), { callbacks: [], next_cursor: null })
  for (const [query, path] of [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['status=gone', 'status'],
    ['source_session_id=x', 'source_session_id'],
    ['cursor=x', 'cursor'],
    [`cursor=${Buffer.from('1.callback_x').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from(`10000000000000.${made[0]!.id}`).toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from(`9999999999999.${made[0]!.id}`).toString('base64url')}`, null],
  ] as const) {
    const answer = await call(acme, 'GET', `/v1/callbacks?${query}`)
    if (path === null) t.equal(answer.status, 200, query)
    else t.same(faultOf(answer), { status: 400, code: 'VALIDATION_ERROR', paths: [path] }, query)
  }
})

t.test('the agent of a callback cannot be deleted until the callback is over', async (t) => {
  const acme = await organization('deleting')
  const wanted = { name: 'Caller', systemPrompt: 'Be brief.', intent: { language: 'en' } }
  const { id: agentId } = (await post(acme, '/v1/agents', wanted)).json<{ id: string }>()
  const { id } = await makeCallback(acme.id, {}, { agentId })
  const refused = await call(acme, 'DELETE', `/v1/agents/${agentId}`)
  t.same(faultOf(refused), { status: 409, code: 'AGENT_IN_USE' })
  const gone = systemIds.agent()
  await makeCallback(acme.id, {}, { agentId: gone })
  t.same(faultOf(await call(acme, 'DELETE', `/v1/agents/${gone}`)), { status: 404, code: 'NOT_FOUND' })
  t.match(refused.json(), { details: { phoneNumberIds: [], callbackIds: [id] } })
  await post(acme, `/v1/callbacks/${id}/cancel`)
  t.equal((await call(acme, 'DELETE', `/v1/agents/${agentId}`)).status, 200)
  t.match(await get(acme, `/v1/callbacks/${id}`), { agent_id: agentId }, 'the callback stays readable')
})

t.test("a call's report has the outcome callback_scheduled and shows the promised callback", async (t) => {
  const acme = await organization('reporting')
  const { session, id } = await makeCallback(acme.id)
  const nowMs = clock.nowMs()
  const connected = newEvent('call.in_progress', { occurredAtMs: nowMs })
  const over = newEvent('call.completed', { occurredAtMs: nowMs })
  await admin.store.calls.append(session, session.id, [
    { kind: 'move', event: connected, to: 'in_progress', change: { startedAtMs: nowMs } },
    { kind: 'move', event: over, to: 'completed', change: { endedAtMs: nowMs, endReason: 'user_hangup' } },
  ])
  const report = await get<object>(acme, `/v1/calls/${session.id}/report`)
  t.match(report, { outcome: 'callback_scheduled', scheduled_callback: { id, status: 'scheduled' } })
  t.match((await post(acme, `/v1/calls/${session.id}/report/finalize`)).json(), { outcome: 'callback_scheduled' })
  t.match(await get(acme, `/v1/callbacks/${id}`), { summary: /^The call lasted/ }, 'and the callback has its summary')
  await post(acme, `/v1/callbacks/${id}/cancel`)
  t.match(await get(acme, `/v1/calls/${session.id}/report`), { scheduled_callback: { id, status: 'cancelled' } })
})

/** Says each sentence after the answer to the previous sentence, and hangs up. Resolves with the answers. */
async function converse(url: string, token: string, sentences: string[]): Promise<string[]> {
  const socket = new WebSocket(url, ['service.session.v1', `service.ephemeral.${token}`])
  const answers: string[] = []
  const say = () => {
    const text = sentences[answers.length]
    socket.send(JSON.stringify(text === undefined ? { type: 'end' } : { type: 'user_message', text }))
  }
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) return
      const frame = JSON.parse(data.toString()) as { type: string; name?: string; isFinal?: boolean; text?: string }
      if (frame.type === 'ready') say()
      if (frame.type === 'mark') socket.send(JSON.stringify({ type: 'played', mark: frame.name }))
      if (frame.type !== 'agent_message' || !frame.isFinal) return
      answers.push(frame.text ?? '')
      say()
    })
  })
  return answers
}

t.test('if an agent promises another callback in the same call, the earlier callback is cancelled', async (t) => {
  const acme = await organization('promising')
  const source = { kind: 'builtin', name: 'schedule_callback', config: { maxDaysAhead: 1 } }
  const wanted = {
    intent: { language: 'en' },
    systemPrompt: 'We open at nine.',
    llm: { model: 'local:scripted' },
    tools: [{ name: 'schedule_callback', description: 'Schedules a call.', source }],
    metadata: { cart: '4711' },
  }
  const { sessionId, transportToken, transportUrl } = (await post(acme, '/v1/sessions', wanted)).json<{
    sessionId: string
    transportToken: string
    transportUrl: string
  }>()
  const startedMs = clock.nowMs()
  const conversation = converse(transportUrl, transportToken, [
    'Please call me back in ten minutes.',
    'Please call me back at +4915123456789 in 90 minutes.',
    'No, call +1 202 555 0143, schedule a callback in 2 hours.',
    'Call me back at +4915123456789 in 25 hours.',
  ])
  const answers = await clock.during(conversation)
  t.match(answers, [
    /invalid arguments, to is missing or malformed\./,
    /status is scheduled/,
    /status is scheduled/,
    /not allowed, .*1 days/s,
  ])
  t.notMatch(answers.join(), /4915123456789|0143/, 'no result repeats a number')
  const { callbacks } = await get<Page>(acme, `/v1/callbacks?source_session_id=${sessionId}`)
  t.match(callbacks, [
    {
      status: 'scheduled',
      to_number: '+12025550143',
      metadata: { cart: '4711' },
      pipeline_config: { tools: [{ name: 'schedule_callback', kind: 'builtin' }] },
    },
    { status: 'cancelled', to_number: '+4915123456789', cancelled_at: String },
  ])
  const aheadMs = Date.parse(callbacks[0]!.scheduled_at) - startedMs
  t.ok(aheadMs >= 2 * hourMs && aheadMs < 2 * hourMs + 120_000, `${aheadMs} ms ahead`)
  const report = () => call(acme, 'GET', `/v1/calls/${sessionId}/report`)
  await clock.until('the report', async () => (await report()).status === 200)
  t.match((await report()).json(), { outcome: 'callback_scheduled', scheduled_callback: { id: callbacks[0]!.id } })
  const { events } = await get<{ events: { event_type: string; payload: { reason?: string } }[] }>(
    acme,
    `/v1/calls/${sessionId}/events`,
  )
  t.same(
    events
      .filter(({ event_type }) => event_type.startsWith('callback.'))
      .map(({ event_type, payload }) => [event_type, payload.reason]),
    [
      ['callback.scheduled', undefined],
      ['callback.scheduled', undefined],
      ['callback.cancelled', 'replaced'],
    ],
  )
  t.notMatch(JSON.stringify(events), /4915123456789|12025550143/, 'events hold no number')
})

t.test('the server tries to place a due callback without an API request', async (t) => {
  const acme = await organization('due')
  const dueMs = clock.nowMs() - 1000
  const { id } = await makeCallback(acme.id, { scheduledAtMs: dueMs, nextTryAtMs: dueMs })
  const hour = clock.nowMs() - hourMs - 1000
  const { id: late } = await makeCallback(acme.id, { scheduledAtMs: hour, nextTryAtMs: hour })
  await clock.until('a try of both', async () => {
    const shown = await Promise.all([id, late].map((of) => get<Shown>(acme, `/v1/callbacks/${of}`)))
    return shown.every(({ failure_cause }) => failure_cause !== null)
  })
  t.match(await get(acme, `/v1/callbacks/${id}`), { status: 'scheduled', failure_cause: 'no_phone_number' })
  t.match(await get(acme, `/v1/callbacks/${late}`), { status: 'failed', failure_cause: 'missed', attempted_at: null })
})
