/**
 * Inbound calls that are refused before the answer, over a whole server: the call, its events and the webhook give the
 * reason.
 */
import t, { type Test } from 'tap'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { eventsOf, hasEnded } from './call-rows.ts'
import { callWhen, newestInbound, startPhones } from './phones.ts'

const phones = await startPhones()
const sql = openDatabase(phones.server)
const known = new Set<string>()
t.teardown(async () => {
  await sql.end()
  await phones.close()
})

type Status = {
  type: string
  call_id: string
  event_type: string
  status: string
  failure_cause: string
  sip_status_code: number
}

async function refused(t: Test, sipCode: number, cause: string, endReason = cause): Promise<void> {
  const answer = await call(phones, 'POST', '/simulator/calls', { from: '+15005550006', to: phones.number })
  t.equal(answer.status, 201, answer.text)
  const id = await newestInbound(phones, known)
  known.add(id)
  const row = await callWhen(phones, id, hasEnded)
  const expected = { status: 'failed', failure_cause: cause, sip_status_code: sipCode }
  t.match(row, { status: 'failed', end_reason: endReason, direction: 'inbound', transcript: { entries: [] } })
  const events = await eventsOf(phones, id)
  const types = events.map(({ event_type }) => event_type)
  t.ok(types.includes('call.ringing'), types.join())
  t.notOk(types.includes('webhook.pre_call'), 'nobody is asked about a call that is not taken')
  t.notOk(types.includes('carrier.answered'))
  t.match(
    events.find(({ event_type }) => event_type === 'call.failed'),
    expected,
  )
  const sent = () =>
    phones.receiver.received
      .map(({ body }) => JSON.parse(body.toString()) as Status)
      .find((one) => one.call_id === id && one.type === 'call.status' && one.event_type === 'call.failed')
  await phones.clock.until('the webhook', () => sent() !== undefined)
  t.match(sent(), expected)
}

t.test('a call to a number for outbound calls only is refused', async (t) => {
  await sql`update phone_numbers set direction = 'outbound'`
  await refused(t, 480, 'not_ready')
  await sql`update phone_numbers set direction = 'both'`
})

t.test('a call to a suspended number is refused', async (t) => {
  await sql`update phone_numbers set suspended_at = now()`
  await refused(t, 480, 'not_ready')
  await sql`update phone_numbers set suspended_at = null`
})

t.test('a call to a number whose order is pending is refused', async (t) => {
  await sql`update phone_numbers set order_status = 'pending'`
  await refused(t, 480, 'not_ready')
  await sql`update phone_numbers set order_status = 'done'`
})

t.test('a call to an organization without credit is refused', async (t) => {
  await sql`update organizations set credit_micro_usd = 0`
  await refused(t, 503, 'insufficient_credits', 'credit_exhausted')
  await sql`update organizations set credit_micro_usd = 10000000`
})

t.test('a call to an organization at its limit of simultaneous calls is refused as busy', async (t) => {
  await sql`update organizations set max_sessions = 1`
  const body = { to: '+15005550002', agentId: phones.agentId }
  const held = await call(phones, 'POST', '/v1/sessions/phone', body)
  t.equal(held.status, 200, held.text)
  await refused(t, 486, 'concurrency', 'concurrency_exhausted')
  await call(phones, 'POST', `/v1/calls/${held.json<{ sessionId: string }>().sessionId}/end`)
})
