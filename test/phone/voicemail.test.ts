/**
 * Tests answering machines, over the simulated carrier on a test clock. The numbers behave as docs/simulator.md lists.
 */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { soundsOf, voicesOf, wordsOf } from '../session/recorded-call.ts'
import { errorRate, wordErrors } from '../speech/words.ts'
import { eventsOf, hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

const message = 'Your bicycle is ready. Please call the shop back on Saturday.'
const isRecorded = (row: PhoneCallRow) => hasEnded(row) && row.recording_status === 'ready'

async function dial(to: string, telephony: object): Promise<string> {
  const answer = await call(phones, 'POST', '/v1/sessions/phone', { to, agentId: phones.agentId, telephony })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json<{ sessionId: string }>().sessionId
}

const detections = async (id: string) =>
  (await eventsOf(phones, id))
    .filter(({ event_type }) => event_type === 'carrier.machine_detection')
    .map(({ payload }) => payload)

const modes = ['carrier', 'agent'] as const

for (const mode of modes) {
  t.test(`AMD mode ${mode}: the agent leaves its message after a voicemail's beep, or after a silence`, async (t) => {
    for (const to of ['+15005550008', '+15005550009']) {
      const id = await dial(to, { amd: { mode }, voicemail: { action: 'leave_message', message } })
      const row = await callWhen(phones, id, isRecorded)
      t.match(row, { status: 'voicemail', end_reason: 'voicemail', report: { outcome: 'voicemail' } }, to)
      t.match(await detections(id), [{ mode, result: 'machine', latency_ms: Number }], to)
      const { caller, agent } = await voicesOf(phones, id)
      const greeted = soundsOf(caller).at(-1)?.endMs ?? Number.POSITIVE_INFINITY
      const said = soundsOf(agent).at(-1)
      t.ok(said && said.startMs >= greeted, `the message begins at ${said?.startMs}, the greeting ends at ${greeted}`)
      const left = agent.subarray(((said?.startMs ?? 0) * 16_000) / 1000)
      const words = await wordsOf(phones, left)
      t.ok(errorRate([wordErrors(message, words)]) < 0.5, `${to} has the message: ${words}`)
    }
  })

  t.test(`AMD mode ${mode}: if there is no message for a voicemail, the call ends at once`, async (t) => {
    const id = await dial('+15005550008', { amd: { mode } })
    t.match(await callWhen(phones, id, hasEnded), { status: 'voicemail', end_reason: 'voicemail' })
    t.match(await detections(id), [{ mode, result: 'machine' }])
  })

  t.test(`AMD mode ${mode}: if a person or a call-screening phone answers, the conversation goes on`, async (t) => {
    for (const [to, result] of [
      ['+15005550006', 'human'],
      ['+15005550025', 'not_sure'],
    ] as const) {
      const id = await dial(to, { amd: { mode } })
      const talks = ({ transcript }: PhoneCallRow) =>
        transcript.entries.filter(({ source }) => source === 'agent').length > 1
      const row = await callWhen(phones, id, (row) => talks(row) || row.ended_at !== null)
      t.equal(row.status, 'in_progress')
      await phones.clock.until('a verdict', async () => (await detections(id)).length > 0)
      t.match(await detections(id), [{ mode, result }], to)
      await call(phones, 'POST', `/v1/calls/${id}/end`)
      t.match(await callWhen(phones, id, hasEnded), { status: 'completed' })
    }
  })
}

t.test('if voicemail detection takes too long, the result is not_sure, and the conversation goes on', async (t) => {
  const id = await dial('+15005550008', { amd: { mode: 'carrier', timeoutSeconds: 1 } })
  await callWhen(phones, id, (row) => row.transcript.entries.some(({ source }) => source === 'user'))
  t.match(await detections(id), [{ mode: 'carrier', result: 'not_sure' }])
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed' })
})

t.test("the agent's voicemail settings are the default, and the message's template is validated", async (t) => {
  const voicemail = { action: 'leave_message', message: 'Call {{ shop }} back.' }
  const changed = await call(phones, 'PATCH', `/v1/agents/${phones.agentId}`, { voicemail })
  t.equal(changed.status, 200)
  const send = (more: object) =>
    call(phones, 'POST', '/v1/sessions/phone', { to: '+15005550002', agentId: phones.agentId, ...more })
  const missing = await send({ telephony: { amd: { mode: 'carrier' } } })
  t.equal(missing.status, 400, missing.text)
  t.match(missing.text, /shop/)
  const broken = await send({ telephony: { voicemail: { message: '{% if %}' } } })
  t.match(broken.json(), { issues: [{ path: '/telephony/voicemail/message' }] })
  const given = await send({ variables: { shop: 'Spokes' }, telephony: { amd: { mode: 'carrier' } } })
  t.equal(given.status, 200, given.text)
  await call(phones, 'POST', `/v1/calls/${given.json<{ sessionId: string }>().sessionId}/end`)
})
