/**
 * Tests, on a test clock and over the simulated carrier, the words around a transfer: the agent's words to a caller who
 * was not transferred, and the answers to requests about a transferred call.
 */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { Page, type Started } from '../session/voice-session.ts'
import { refused } from '../ws/harness.ts'
import { eventsOf, hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

/** This person answers, says nothing and does not hang up. */
const silent = '+15005550011'
/** This person presses 1 when asked to take the call. */
const accepts = '+15005550017'

async function talking(): Promise<string> {
  const started = await call(phones, 'POST', '/v1/sessions/phone', { to: silent, agentId: phones.agentId })
  const { sessionId } = started.json<{ sessionId: string }>()
  await callWhen(phones, sessionId, ({ status }) => status === 'in_progress')
  return sessionId
}

const post = (id: string, path: string, body: object = {}) => call(phones, 'POST', `/v1/calls/${id}/${path}`, body)

/** Requests a person's token to join the call. */
async function invited(id: string): Promise<Started> {
  const { url, token } = (await post(id, 'web-join')).json<{ url: string; token: string }>()
  return { sessionId: id, transportUrl: url, transportToken: token }
}

const pageOf = (invitation: Started) => new Page(invitation, {}, phones.clock)

type Attempt = { id: string; status: string; failure_cause: string | null }
const newest = (row: PhoneCallRow) => (row['transfers'] as Attempt[]).at(-1)

async function end(id: string): Promise<PhoneCallRow> {
  await post(id, 'end')
  return callWhen(phones, id, hasEnded)
}

/** Returns the agent's words after the last note, which says why the caller was not transferred. */
function wordsAfterHold({ transcript: { entries } }: PhoneCallRow): string[] {
  const at = entries.findLastIndex(({ text }) => text.startsWith('The call was not transferred:'))
  return at < 0 ? [] : entries.slice(at).flatMap(({ source, text }) => (source === 'agent' ? [text] : []))
}

t.test('after a person has not accepted the call, the agent says so to the caller in a sentence', async (t) => {
  for (const [strategy, expected] of [
    ['return_to_assistant', 'I am sorry, I could not connect you. How else can I help?'],
    ['take_message', 'I am sorry, I could not connect you. May I take a message?'],
  ]) {
    const id = await talking()
    await post(id, 'transfers/warm', { to: silent, screeningTimeout: 5, fallback: { strategy } })
    const back = await callWhen(phones, id, (row) => wordsAfterHold(row).length > 0)
    t.equal(wordsAfterHold(back)[0], expected)
    t.match(newest(back), { status: 'failed', failure_cause: 'no_answer' })
    const why = 'The call was not transferred: the person did not decide in time.'
    t.ok(back.transcript.entries.some(({ source, text }) => source === 'system' && text.startsWith(why)))
    const failed = (await eventsOf(phones, id)).find(({ event_type }) => event_type === 'transfer.failed')
    t.equal(failed?.failure_cause, 'no_answer')
    const spoken = (await end(id)).transcript.entries.filter(({ source }) => source === 'agent')
    t.notOk(spoken.some(({ text }) => /on hold|transferred/.test(text)))
  }
})

t.test('a request about a call says if the caller waits on hold or talks to the recipient of a transfer', async (t) => {
  const id = await talking()
  const [early, maria] = [await invited(id), await invited(id)]
  await pageOf(maria).first('ready')
  await post(id, 'transfers/warm', { to: silent, screeningTimeout: 60 })
  const { id: attempt = '' } = newest(await callWhen(phones, id, (row) => newest(row)?.status === 'screening')) ?? {}
  const waiting = await post(id, 'web-join')
  t.equal(waiting.status, 409, waiting.text)
  t.match(waiting.json(), {
    code: 'CALL_NOT_LIVE',
    error: /^The caller is on hold while the call is transferred\. Wait /,
  })
  const protocols = ['service.session.v1', `service.ephemeral.${early.transportToken}`]
  const refusal = await phones.clock.during(refused(early.transportUrl, protocols))
  t.equal(refusal.status, 409, 'a token from before the transfer admits nobody now')
  t.equal(refusal.body['error'], waiting.json<{ error: string }>().error)
  t.match(await pageOf(maria).first('ready'), { resumed: true }, 'a person who joined before may reconnect')
  const second = await post(id, 'transfers/blind', { to: accepts })
  t.match(second.json(), { code: 'TRANSFER_IN_PROGRESS', error: /^The call is transferred already\. Wait for / })

  await post(id, `transfers/${attempt}/complete`)
  await callWhen(phones, id, (row) => newest(row)?.status === 'completed' && row.status === 'in_progress')
  const joined = await post(id, 'web-join')
  t.equal(joined.status, 409, joined.text)
  const withRecipient = /^The caller talks to the recipient of a transfer, and the agent has left\. /
  t.match(joined.json(), { code: 'CALL_NOT_LIVE', error: withRecipient })
  for (const kind of ['blind', 'warm']) {
    const again = await post(id, `transfers/${kind}`, { to: accepts })
    t.equal(again.status, 409, again.text)
    t.match(again.json(), { code: 'TRANSFER_IN_PROGRESS', error: withRecipient })
    t.notMatch(again.text, /cancel it|Wait for/)
  }
  const cancel = await post(id, `transfers/${attempt}/cancel`)
  t.match(cancel.json(), { code: 'TRANSFER_STATE_CONFLICT', details: { status: 'completed' } })
  t.match((await post(id, 'end')).json(), { ok: true, status: 'ending' })
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed', end_reason: 'api_ended' })
  t.match((await post(id, 'web-join')).json(), { code: 'CALL_NOT_LIVE', error: /^The call is over, or / })
})
