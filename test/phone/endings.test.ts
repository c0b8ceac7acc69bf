/** Calls that end without a conversation, over the simulated carrier. The numbers behave as docs/simulator.md lists. */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { eventsOf, hasEnded } from './call-rows.ts'
import { callWhen, newestInbound, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

const dial = (to: string, more: object = {}) =>
  call(phones, 'POST', '/v1/sessions/phone', { to, agentId: phones.agentId, ...more })

type Started = { sessionId: string }
/** The ids of inbound calls from earlier tests. */
const known = new Set<string>()

t.test("the far end's answer sets the status of the call", async (t) => {
  const cases = [
    ['+15005550003', 'busy', 'busy', 486, 'Busy Here'],
    ['+15005550004', 'failed', 'declined', 603, 'Decline'],
    ['+15005550005', 'failed', 'carrier_error', 482, 'Loop Detected'],
  ] as const
  for (const [to, status, cause, code, words] of cases) {
    const { sessionId } = (await dial(to)).json<Started>()
    t.match(await callWhen(phones, sessionId, hasEnded), { status, end_reason: cause, duration_seconds: 0 }, to)
    const ended = (await eventsOf(phones, sessionId)).find(({ event_type }) => event_type === `call.${status}`)
    t.match(ended, { status, failure_cause: cause, sip_status_code: code, sip_status: words }, to)
  }
})

t.test('CARRIER_DIAL_FAILED: if the carrier refuses the call, the call has failed', async (t) => {
  const cases = [
    ['+15005550001', /^The carrier refuses the call\. Check both numbers .* a repeat is refused too\.$/],
    ['+15005550024', /^The carrier cannot take the call now\. Repeat the request later\.$/],
  ] as const
  for (const [to, text] of cases) {
    const answer = await dial(to)
    t.equal(answer.status, 502, answer.text)
    const { code, error, details } = answer.json<{ code: string; error: string; details: Started }>()
    t.equal(code, 'CARRIER_DIAL_FAILED')
    t.match(error, text)
    const failed = { status: 'failed', end_reason: 'carrier_error' }
    t.match(await callWhen(phones, details.sessionId, hasEnded), failed)
    const types = (await eventsOf(phones, details.sessionId)).map(({ event_type }) => event_type)
    t.same(
      types.filter((type) => /^(call|carrier)\./.test(type)),
      ['call.dialing', 'call.failed'],
    )
    const webhooks = () =>
      phones.receiver.received
        .map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>)
        .filter((body) => body['call_id'] === details.sessionId && body['event_type'] === 'call.failed')
    await phones.clock.until('the webhook', () => webhooks().length > 0)
    t.match(webhooks(), [{ type: 'call.status', status: 'failed', failure_cause: 'carrier_error' }])
  }
})

t.test('a call that rings too long ends as no_answer, and a call ended while it rings is cancelled', async (t) => {
  const late = (await dial('+15005550002', { telephony: { ringingTimeout: 1 } })).json<Started>()
  t.match(await callWhen(phones, late.sessionId, hasEnded), { status: 'no_answer', end_reason: 'no_answer' })
  const ended = (await dial('+15005550002')).json<Started>()
  t.equal((await call(phones, 'POST', `/v1/calls/${ended.sessionId}/end`)).status, 200)
  t.match(await callWhen(phones, ended.sessionId, hasEnded), { status: 'cancelled', end_reason: 'api_ended' })
})

t.test("an invalid or another organization's phone number is refused with the path of its field", async (t) => {
  const cases = [
    [{ to: '+15550001111' }, '/to'],
    [{ to: '+15005550006', from: '+15005550199' }, '/from'],
  ] as const
  for (const [wanted, path] of cases) {
    const answer = await call(phones, 'POST', '/v1/sessions/phone', { agentId: phones.agentId, ...wanted })
    t.equal(answer.status, 400)
    t.same(
      answer.json<{ issues: { path: string }[] }>().issues.map((issue) => issue.path),
      [path],
    )
  }
  t.equal((await call(phones, 'POST', '/v1/sessions/phone', { to: '+15005550006' })).status, 400, 'without intent')
})

t.test('a call to an unknown number is rejected and makes no call record', async (t) => {
  const ring = (to: string) => call(phones, 'POST', '/simulator/calls', { from: '+15005550006', to, lines: [] })
  t.equal((await ring('+12125550177')).status, 201)
  t.equal((await ring(phones.number)).status, 201)
  const id = await newestInbound(phones, known)
  known.add(id)
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  await callWhen(phones, id, hasEnded)
  const { entries } = (await call(phones, 'GET', '/v1/sessions?kind=inbound')).json<{ entries: object[] }>()
  t.equal(entries.length, 1, 'only the known number has a call')
})

t.test("a call from a withheld number has null as the caller's number", async (t) => {
  await call(phones, 'POST', '/simulator/calls', { from: null, to: phones.number, lines: ['Hello.'] })
  const id = await newestInbound(phones, known)
  const row = await callWhen(phones, id, ({ status }) => status === 'in_progress')
  t.match(row, { from: null, to: phones.number })
  t.match(row['metadata'], { callerNumber: null, dialedNumber: phones.number, forwardedFromNumber: null })
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed', end_reason: 'api_ended' })
})
