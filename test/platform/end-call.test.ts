/** A request ends a call, and the call's record shows the end. */
import t from 'tap'
import { WebSocket } from 'ws'
import { newCall } from '../calls/call.ts'
import { until } from '../process/machine.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)

t.test('endCall ends a queued or a live call once, and stores its reason in the events of the call', async (t) => {
  const acme = await admin.organization('ending')
  const stored = newCall(acme.id)
  await admin.store.calls.insert(stored, {})
  const path = `/v1/calls/${stored.id}/end`
  t.same((await call(acme, 'POST', path, { reason: 'x'.repeat(120) })).json(), { ok: true, status: 'ending' })
  const again = (await call(acme, 'POST', path)).json<{ ended_at: string }>()
  t.match(again, { ok: true, status: 'already_ended' })
  t.match(again.ended_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.match(faultOf(await call(acme, 'POST', path, { reason: 'x'.repeat(121) })), { status: 400, paths: ['/reason'] })
  t.match(faultOf(await call(acme, 'POST', path, { force: true })), { status: 400 })
  type Events = { events: { event_type: string; payload: object }[] }
  const payloadOf = async (id: string, type: string) =>
    (await call(acme, 'GET', `/v1/calls/${id}/events`)).json<Events>().events.find((event) => event.event_type === type)
      ?.payload
  const noted = { end_reason: 'api_ended', reason: 'x'.repeat(120) }
  t.same(await payloadOf(stored.id, 'call.cancelled'), noted, 'the second reason is not kept')

  const wanted = { intent: { language: 'en' }, systemPrompt: 'Be brief.', llm: { model: 'local:scripted' } }
  for (const reason of ['closing time \u0000 ☎', null]) {
    const started = (await call(acme, 'POST', '/v1/sessions', wanted)).json<{
      sessionId: string
      transportToken: string
    }>()
    const { sessionId, transportToken } = started
    const url = `${parley.url.replace('http', 'ws')}/v1/sessions/${sessionId}/media`
    const socket = new WebSocket(url, ['service.session.v1', `service.ephemeral.${transportToken}`])
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => socket.once('message', resolve))
    const ending = await call(acme, 'POST', `/v1/calls/${sessionId}/end`, { reason })
    t.same(ending.json(), { ok: true, status: 'ending' })
    await closed
    let payload: object | undefined
    await until(
      'the event of the end',
      async () => (payload = await payloadOf(sessionId, 'call.completed')) !== undefined,
    )
    t.same(payload, { end_reason: 'api_ended', ...(reason !== null && { reason }) })
  }
})
