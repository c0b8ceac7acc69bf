/**
 * Tests, on a test clock and over the simulated carrier, that a caller leaves a message if no transfer recipient
 * accepts the call.
 */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { errorRate, wordErrors } from '../speech/words.ts'
import { eventsOf, hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, newestInbound, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

const busy = '+15005550003'
const fallback = {
  strategy: 'take_message',
  message: 'Nobody is free right now.',
  takeMessagePrompt: 'Ask for the name and the number of the caller.',
}
const message = 'Please tell the workshop that my bicycle is broken.'

/** Returns the caller's words after the system note that makes the agent ask for a message. */
function wordsAfterNote({ transcript }: PhoneCallRow): string[] {
  const at = transcript.entries.findIndex(({ source, text }) => source === 'system' && text.includes('Take a message.'))
  return at < 0 ? [] : transcript.entries.slice(at).flatMap(({ source, text }) => (source === 'user' ? [text] : []))
}
/** Recognition misses a few words, so at least half of the words must agree. */
const isMessage = (text: string) => errorRate([wordErrors(message, text)]) < 0.5

const isAnalysed = (row: PhoneCallRow) => {
  const report = row.report as (PhoneCallRow['report'] & Record<'analysis_status', string>) | null
  return hasEnded(row) && report?.analysis_status !== 'pending'
}

type Reported = { type: string; call_id: string; structured_data: { message: string | null } }
const reportsOf = (id: string) =>
  phones.receiver.received
    .map(({ body }) => JSON.parse(body.toString()) as Reported)
    .filter(({ type, call_id }) => call_id === id && (type === 'call.report' || type === 'call.analysis'))

t.test('if no recipient accepts a call, its report has the message that the caller leaves', async (t) => {
  // The caller says the same sentence at each pause, because a caller also speaks before the transfer and may be
  // misunderstood.
  const lines = Array<string>(40).fill(message)
  const calling = await call(phones, 'POST', '/simulator/calls', { from: '+15005550006', to: phones.number, lines })
  t.equal(calling.status, 201, calling.text)
  const id = await newestInbound(phones)
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  const asked = await call(phones, 'POST', `/v1/calls/${id}/transfers/warm`, { to: busy, fallback })
  t.equal(asked.status, 201, asked.text)

  await callWhen(phones, id, (row) => wordsAfterNote(row).some(isMessage))
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  const row = await callWhen(phones, id, isAnalysed)
  t.match(row['transfers'], [{ status: 'failed', failure_cause: 'busy' }])
  const report = (await call(phones, 'GET', `/v1/calls/${id}/report`)).json<Reported>()
  const left = wordsAfterNote(row).join(' ')
  t.equal(report.structured_data.message, left)
  t.match(row.report, { structured_data: { message: left } })

  await phones.clock.until('both events', () => new Set(reportsOf(id).map(({ type }) => type)).size === 2)
  for (const { type, structured_data } of reportsOf(id)) t.equal(structured_data.message, left, type)
  const failed = (await eventsOf(phones, id)).find(({ event_type }) => event_type === 'transfer.failed')
  t.match(failed?.payload, {
    fallback: {
      action: 'take_message',
      message: fallback.message,
      take_message_prompt: fallback.takeMessagePrompt,
      voicemail_detected: false,
    },
  })
})

t.test('if the caller stays silent, the report has no message', async (t) => {
  const started = await call(phones, 'POST', '/v1/sessions/phone', { to: '+15005550011', agentId: phones.agentId })
  const { sessionId: id } = started.json<{ sessionId: string }>()
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  await call(phones, 'POST', `/v1/calls/${id}/transfers/warm`, { to: busy, fallback })
  const isSaid = ({ transcript }: PhoneCallRow) => transcript.entries.some(({ text }) => text === fallback.message)
  await callWhen(phones, id, isSaid)
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  const row = await callWhen(phones, id, isAnalysed)
  t.match(row.report, { structured_data: { message: null } })
})
