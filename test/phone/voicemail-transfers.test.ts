/** Transfers of calls that reached a voicemail, over the simulated carrier on a test clock. */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { Page } from '../session/voice-session.ts'
import { eventsOf, hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, eventsWithType, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

/** The message takes about ten seconds, because a busy machine requests the transfer late. */
const message = [
  'Your bicycle is ready, and you may fetch it on every day of this week.',
  'We are open from nine to five, and on Saturday until noon.',
].join(' ')
const busy = '+15005550003'
const unanswered = '+15005550002'
const sorry = 'Nobody is free right now.'

/** Calls a voicemail. Returns the call's id after the carrier has recognized the voicemail. */
async function recognized(): Promise<string> {
  const telephony = { amd: { mode: 'carrier' }, voicemail: { action: 'leave_message', message } }
  const asked = { to: '+15005550009', agentId: phones.agentId, telephony }
  const started = await call(phones, 'POST', '/v1/sessions/phone', asked)
  const { sessionId } = started.json<{ sessionId: string }>()
  const [event] = (await eventsWithType(phones, sessionId, 'carrier.machine_detection')).slice(-1)
  if (event?.payload['result'] !== 'machine') throw new Error(JSON.stringify(event))
  return sessionId
}

const transfer = (id: string, kind: 'blind' | 'warm', body: object) =>
  call(phones, 'POST', `/v1/calls/${id}/transfers/${kind}`, body)

const causes = (row: PhoneCallRow) =>
  (row['transfers'] as { failure_cause: string | null }[]).map(({ failure_cause }) => failure_cause)

type Entry = PhoneCallRow['transcript']['entries'][number]
const isSaid = (words: string) => (entry: Entry) => entry.source === 'agent' && entry.text === words

const endedBy = async (id: string) => {
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  return callWhen(phones, id, hasEnded)
}

t.test('a transfer is refused while a voicemail message is being left, and the message is completed', async (t) => {
  const id = await recognized()
  // A joined person who only listens receives the agent's words, so the test knows when the message is being said.
  const invited = await call(phones, 'POST', `/v1/calls/${id}/web-join`, {})
  const { url, token } = invited.json<{ url: string; token: string }>()
  const page = new Page({ sessionId: id, transportUrl: url, transportToken: token })
  await phones.clock.until('the message begins', () => page.all('agent_message').some(({ text }) => text === message))
  for (const kind of ['blind', 'warm'] as const) {
    const refused = await transfer(id, kind, { to: busy })
    t.equal(refused.status, 409, refused.text)
    t.match(refused.json(), { code: 'CALL_NOT_LIVE', error: /The call is ending/ })
  }
  const row = await callWhen(phones, id, hasEnded)
  t.match(row, { status: 'voicemail', end_reason: 'voicemail', report: { outcome: 'voicemail' } })
  t.same(causes(row), [])
  const texts = row.transcript.entries.filter(isSaid(message)).map((entry) => entry['heard_text'])
  t.same(texts, [message])
  const types = (await eventsOf(phones, id)).map(({ event_type }) => event_type)
  t.notOk(types.some((type) => type.startsWith('transfer.') || type === 'call.transferring'))
})

t.test("a transfer during a voicemail's greeting runs, and if the transfer fails, the agent can talk", async (t) => {
  const [warm, blind] = await Promise.all([recognized(), recognized()])
  const fallback = { message: sorry }
  t.equal((await transfer(warm, 'warm', { to: busy, fallback })).status, 201)
  t.equal((await transfer(blind, 'blind', { to: unanswered, ringingTimeout: 1 })).status, 201)
  const back = await callWhen(phones, warm, ({ transcript }) => transcript.entries.some(isSaid(sorry)))
  t.equal(back.status, 'in_progress')
  t.same(causes(back), ['busy'])
  const isBack = (row: PhoneCallRow) => row.status === 'in_progress' && causes(row)[0] === 'no_answer'
  const before = (await callWhen(phones, blind, isBack)).transcript.entries.length
  const talks = ({ transcript: { entries } }: PhoneCallRow) =>
    entries.slice(before).some((entry) => entry.source === 'agent' && entry['heard_text'] !== '')
  t.equal((await callWhen(phones, blind, talks)).status, 'in_progress', 'the agent says why')
  for (const id of [warm, blind]) t.match(await endedBy(id), { status: 'completed', end_reason: 'api_ended' })
})
