/** Whole conversations over the simulated carrier on a test clock, through the carrier's HTTP API. */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { voicesOf, wordsOf } from '../session/recorded-call.ts'
import { errorRate, wordErrors } from '../speech/words.ts'
import { eventsOf, hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, newestInbound, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

const bodies = (id: string) =>
  phones.receiver.received
    .map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>)
    .filter((body) => body['call_id'] === id)
const typesOf = (id: string) => new Set(bodies(id).map(({ type }) => type as string))
const wordsSaid = ({ transcript }: PhoneCallRow, source: string) =>
  transcript.entries.filter((entry) => entry.source === source).map(({ text }) => text.toLowerCase())

/**
 * Returns the words that were played. The person's first words may interrupt the agent, so the unplayed rest of the
 * agent's text does not count.
 */
const wordsPlayed = ({ transcript }: PhoneCallRow, source: string) =>
  transcript.entries.flatMap((entry) => (entry.source === source ? (entry['heard_text'] ?? entry.text) : [])).join(' ')

/**
 * Recognition over a whole phone recording misses a few words, depending on the processor. So half the words must
 * agree.
 */
const isLike = (text: string, found: string) => errorRate([wordErrors(text, found)]) < 0.5
const isRecorded = (row: PhoneCallRow) => hasEnded(row) && row.recording_status === 'ready'

t.test('createPhoneSession: a person answers and talks to the agent', async (t) => {
  const { number, agentId } = phones
  const wanted = {
    to: '+15005550006',
    agentId,
    metadata: { order: '4711', direction: 'mine' },
    webhookTags: { a: 'b' },
  }
  const answer = await call(phones, 'POST', '/v1/sessions/phone', wanted)
  t.equal(answer.status, 200, answer.text)
  const started = answer.json<Record<string, string>>()
  const id = started['sessionId'] ?? ''
  t.match(started, {
    status: 'dialing',
    to: '+15005550006',
    from: number,
    roomName: `room-${id}`,
    callControlId: /^leg_/,
  })
  const row = await callWhen(phones, id, isRecorded)
  t.match(row, { status: 'completed', direction: 'outbound', kind: 'outbound' })
  t.match(row, { from: number, to: '+15005550006', call_control_id: started['callControlId'] })
  t.match(row['metadata'], { order: '4711', direction: 'outbound', callerNumber: number, dialedNumber: '+15005550006' })
  t.comment(row.transcript.entries.map(({ source, text }) => `${source}: ${text}`).join('\n'))
  // An answer to one of the three questions is enough: on a busy machine the agent answers before it understands all
  // words.
  t.match(
    wordsSaid(row, 'agent').join(' '),
    /bicycle shop.*(nine to five|until noon|market street).*goodbye/s,
    'the agent has understood a question, and the thanks',
  )

  const { caller, agent } = await voicesOf(phones, id)
  const said = { caller: wordsPlayed(row, 'user'), agent: wordsPlayed(row, 'agent') }
  const found = { caller: await wordsOf(phones, caller), agent: await wordsOf(phones, agent) }
  t.ok(isLike(said.caller, found.caller), `the person is on one side of the recording: ${found.caller}`)
  t.ok(isLike(said.agent, found.agent), `the agent is on the other: ${found.agent}`)
  t.notOk(isLike(said.agent, found.caller))
  t.notOk(isLike(said.caller, found.agent))

  const types = (await eventsOf(phones, id)).map(({ event_type }) => event_type)
  const order = ['call.dialing', 'carrier.answered', 'call.in_progress', 'carrier.hangup', 'call.completed']
  t.same(types.filter((type) => order.includes(type)).toSorted(), order.toSorted())
  await phones.clock.until('all five events', () => typesOf(id).size === 5)
  t.match(
    bodies(id).find(({ type }) => type === 'call.pre_call'),
    {
      direction: 'outbound',
      to: '+15005550006',
      from: number,
      dialed_number: '+15005550006',
      phone_number_id: /^pn_/,
      call_control_id: started['callControlId'],
    },
  )
  t.match(
    bodies(id).find(({ type }) => type === 'call.report'),
    { direction: 'outbound', status: 'completed' },
  )
})

t.test("a person calls, and the number's agent answers", async (t) => {
  const { number } = phones
  // The agent says goodbye once it has understood the thanks.
  const question = 'Hello, are you also open on Saturday?'
  const lines = [question, question, ...Array<string>(20).fill('Good, thank you very much.')]
  const answer = await call(phones, 'POST', '/simulator/calls', {
    from: '+15005550006',
    to: number,
    lines,
    headers: [{ name: 'Diversion', value: '<sip:+15005550150@carrier.example>;reason=no-answer' }],
  })
  t.equal(answer.status, 201, answer.text)
  const id = await newestInbound(phones)
  const row = await callWhen(phones, id, isRecorded)
  t.match(row, {
    status: 'completed',
    direction: 'inbound',
    from: '+15005550006',
    to: number,
  })
  t.match(row['metadata'], { callerNumber: '+15005550006', dialedNumber: number, forwardedFromNumber: '+15005550150' })
  t.comment(row.transcript.entries.map(({ source, text }) => `${source}: ${text}`).join('\n'))
  t.match(wordsSaid(row, 'agent').join(' '), /bicycle shop.*until noon.*goodbye/s)
  const { caller } = await voicesOf(phones, id)
  const found = await wordsOf(phones, caller)
  t.ok(isLike(wordsPlayed(row, 'user'), found), `the person is on one side of the recording: ${found}`)
  const events = await eventsOf(phones, id)
  const types = events.map(({ event_type }) => event_type)
  t.ok(types.indexOf('call.ringing') < types.indexOf('webhook.pre_call'), 'the endpoint is asked while it rings')
  t.ok(types.indexOf('webhook.pre_call') < types.indexOf('call.in_progress'), 'and before the conversation begins')
  const initiated = events.find(({ event_type }) => event_type === 'carrier.initiated')
  t.same(initiated?.payload, { direction: 'inbound', forwarding_source: 'diversion' })
  await phones.clock.until('all five events', () => typesOf(id).size === 5)
  t.match(
    bodies(id).find(({ type }) => type === 'call.pre_call'),
    {
      direction: 'inbound',
      forwarded_from_number: '+15005550150',
    },
  )
})
