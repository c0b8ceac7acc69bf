/** Calls whose carrier events are lost, late or doubled, and a call whose recording fails. */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { eventsOf, hasEnded } from './call-rows.ts'
import { callWhen, newestInbound, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

const dial = async (to: string) => {
  const answer = await call(phones, 'POST', '/v1/sessions/phone', { to, agentId: phones.agentId })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json<{ sessionId: string }>().sessionId
}
const countsOf = async (id: string) => {
  const counts: Record<string, number> = {}
  for (const { event_type: type } of await eventsOf(phones, id)) counts[type] = (counts[type] ?? 0) + 1
  return counts
}

t.test('if the carrier never reports the end of a call, the call ends with its stream', async (t) => {
  const id = await dial('+15005550022')
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed', end_reason: 'user_hangup' })
  t.equal((await countsOf(id))['carrier.hangup'], undefined)
})

t.test('events that arrive late, twice or out of order count once, and never move a status back', async (t) => {
  const id = await dial('+15005550023')
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  await phones.clock.until('the late answer', async () => (await countsOf(id))['carrier.answered'] === 1)
  t.equal((await call(phones, 'POST', `/v1/calls/${id}/end`)).status, 200)
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed', end_reason: 'api_ended' })
  await phones.clock.until('the late end', async () => (await countsOf(id))['carrier.hangup'] === 1)
  t.match(await countsOf(id), {
    'call.dialing': 1,
    'call.in_progress': 1,
    'call.completed': 1,
    'carrier.initiated': 1,
    'carrier.answered': 1,
    'carrier.hangup': 1,
  })
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed', end_reason: 'api_ended' })
})

t.test('if a recording fails, the failure is reported, and the call goes on', async (t) => {
  const id = await dial('+15005550014')
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  t.equal((await call(phones, 'POST', `/v1/calls/${id}/end`)).status, 200)
  const row = await callWhen(phones, id, (row) => hasEnded(row) && row.recording_status !== 'recording')
  t.match(row, { status: 'completed', end_reason: 'api_ended', recording_status: 'failed' })
  t.match(await countsOf(id), { 'recording.failed': 1 })
})

const known = new Set<string>()

/** A simulated person calls the agent's number. Returns the call's id. */
async function calledBy(from: string): Promise<string> {
  const answer = await call(phones, 'POST', '/simulator/calls', { from, to: phones.number })
  if (answer.status !== 201) throw new Error(answer.text)
  const id = await newestInbound(phones, known)
  known.add(id)
  return id
}

t.test('for inbound calls too, lost events do not keep a call open', async (t) => {
  const left = { status: 'completed', end_reason: 'user_hangup' }
  t.match(await callWhen(phones, await calledBy('+15005550021'), hasEnded), left, 'a caller who leaves at once')
  const lost = await calledBy('+15005550022')
  t.match(await callWhen(phones, lost, hasEnded), left, 'an end that the carrier never says')
  t.equal((await countsOf(lost))['carrier.hangup'], undefined)

  const late = await calledBy('+15005550023')
  await callWhen(phones, late, ({ status }) => status === 'in_progress')
  t.equal((await call(phones, 'POST', `/v1/calls/${late}/end`)).status, 200)
  t.match(await callWhen(phones, late, hasEnded), { status: 'completed', end_reason: 'api_ended' })
  await phones.clock.until('the late end', async () => (await countsOf(late))['carrier.hangup'] === 1)
  t.match(await countsOf(late), {
    'call.ringing': 1,
    'call.in_progress': 1,
    'call.completed': 1,
    'carrier.answered': 1,
  })

  const failing = await calledBy('+15005550014')
  await callWhen(phones, failing, ({ status }) => status === 'in_progress')
  t.equal((await call(phones, 'POST', `/v1/calls/${failing}/end`)).status, 200)
  const row = await callWhen(phones, failing, (row) => hasEnded(row) && row.recording_status !== 'recording')
  t.match(row, { status: 'completed', recording_status: 'failed' })
})
