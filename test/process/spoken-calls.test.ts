/**
 * Tests phone calls with the embedded engines in real time: with real recognition and real voices. Other tests encode
 * words as tones instead. Part of `make test-all LANE=voices`; needs an idle machine.
 */
import t from 'tap'
import { eventsOf, hasEnded, type PhoneCallRow } from '../phone/call-rows.ts'
import { callWhen } from '../phone/real-time-calls.ts'
import { call } from '../platform/setup.ts'
import { soundsOf, voicesOf, wordsOf } from '../session/recorded-call.ts'
import { errorRate, wordErrors } from '../speech/words.ts'
import { startPhones } from './built-phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

const message = 'Your bicycle is ready. Please call the shop back on Saturday.'
const isRecorded = (row: PhoneCallRow) => hasEnded(row) && row.recording_status === 'ready'
const isLike = (text: string, found: string) => errorRate([wordErrors(text, found)]) < 0.5
const played = ({ transcript }: PhoneCallRow, source: string) =>
  transcript.entries.flatMap((entry) => (entry.source === source ? (entry['heard_text'] ?? entry.text) : [])).join(' ')

async function dial(to: string, telephony: object): Promise<string> {
  const answer = await call(phones, 'POST', '/v1/sessions/phone', { to, agentId: phones.agentId, telephony })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json<{ sessionId: string }>().sessionId
}

t.test('a person answers and talks to the agent, and both are in the recording', async (t) => {
  const row = await callWhen(phones, await dial('+15005550006', {}), isRecorded)
  t.match(played(row, 'agent').toLowerCase(), /bicycle shop.*(nine to five|until noon|market street).*goodbye/s)
  const { caller, agent } = await voicesOf(phones, row.id)
  const found = { caller: await wordsOf(phones, caller), agent: await wordsOf(phones, agent) }
  t.ok(isLike(played(row, 'user'), found.caller), found.caller)
  t.ok(isLike(played(row, 'agent'), found.agent), found.agent)
  t.notOk(isLike(played(row, 'agent'), found.caller))
})

for (const to of ['+15005550008', '+15005550009'])
  t.test(`the agent recognises the voicemail ${to}, and leaves its message after the greeting`, async (t) => {
    const id = await dial(to, { amd: { mode: 'agent' }, voicemail: { action: 'leave_message', message } })
    const row = await callWhen(phones, id, isRecorded)
    t.match(row, { status: 'voicemail', end_reason: 'voicemail' })
    const detected = (await eventsOf(phones, id)).filter(({ event_type }) => event_type === 'carrier.machine_detection')
    t.match(detected, [{ payload: { mode: 'agent', result: 'machine' } }])
    const { caller, agent } = await voicesOf(phones, id)
    const greeted = soundsOf(caller).at(-1)?.endMs ?? Number.POSITIVE_INFINITY
    const said = soundsOf(agent).at(-1)
    t.ok(said && said.startMs >= greeted, `the message begins at ${said?.startMs}, the greeting ends at ${greeted}`)
    const words = await wordsOf(phones, agent.subarray(((said?.startMs ?? 0) * 16_000) / 1000))
    t.ok(isLike(message, words), words)
  })
