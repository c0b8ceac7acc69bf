/** Whole calls over a SIP trunk: a phone on the trunk's other side talks with an agent, in both directions. */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { freePort } from '../process/machine.ts'
import { wordsOf } from '../session/recorded-call.ts'
import { speak } from '../speech/tones.ts'
import { SipPeer } from '../trunk/sip-peer.ts'
import { SipPhone } from '../trunk/sip-phone.ts'
import { startTrunkServer } from '../trunk/trunk-server.ts'
import { eventsOf, hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, newestInbound } from './phones.ts'

/** The port for the trunk's other side, which receives outbound calls. */
const farPort = await freePort()
const server = await startTrunkServer(farPort)
t.teardown(() => server.close())

const textOf = ({ transcript }: PhoneCallRow, source: string) =>
  transcript.entries
    .filter((entry) => entry.source === source)
    .map(({ text }) => text.toLowerCase())
    .join(' ')
const question = 'Please try your call again later.'

/** Lets the phone ask its question once the agent is silent. Resolves with the transcript once it has all the words. */
async function understood(id: string, phone: SipPhone): Promise<string> {
  await phone.untilSilent()
  phone.say(speak(question, 8000).samples)
  const isQuestion = ({ source, text }: { source: string; text: string }) => source === 'user' && text === question
  const row = await callWhen(server, id, ({ transcript }) => transcript.entries.some(isQuestion))
  return row.transcript.entries.find(isQuestion)?.text ?? ''
}

/** Waits until the phone has received all the words that the call has played. */
async function receivedWords(id: string, phone: SipPhone): Promise<string> {
  let words = ''
  const isReceived = async () => {
    const row = await callWhen(server, id, () => true)
    const played = row.transcript.entries.flatMap((entry) =>
      entry.source === 'agent' ? [entry['heard_text'] ?? entry.text] : [],
    )
    words = await wordsOf(server, phone.received, 8000)
    return words === played.join(' ')
  }
  await server.clock.until('the words of the agent at the phone', isReceived)
  return words
}

async function setupOfNumber(): Promise<unknown> {
  const numbers = (await call(server, 'GET', '/v1/phone-numbers')).json<{ e164: string; setupStatus: object }[]>()
  return numbers.find(({ e164 }) => e164 === server.trunkNumber)?.setupStatus
}

/** Waits until the agent has said these words. */
async function said(id: string, words: RegExp): Promise<void> {
  await callWhen(server, id, (row) => words.test(textOf(row, 'agent')))
}

t.test("a phone calls an agent over the trunk, and both recognize each other's words", async (t) => {
  const waiting = { status: 'ready', inboundReady: true, outboundReady: true }
  t.match(await setupOfNumber(), { ...waiting, forwardingRequired: true, issues: ['forwarding_required'] })
  const phone = await SipPhone.open(t, server)
  await phone.call('5005550140', '+15005550006', ['Diversion: <sip:+15005550150@trunk.example>;reason=no-answer'])
  const id = await newestInbound(server)
  await said(id, /bicycle shop/)
  t.comment(`the agent has understood "${await understood(id, phone)}"`)
  t.comment(`the phone has received "${await receivedWords(id, phone)}"`)
  phone.hangUp()
  const row = await callWhen(server, id, hasEnded)
  t.match(row, { status: 'completed', direction: 'inbound', from: '+15005550006', to: server.trunkNumber })
  t.match(row['metadata'], { dialedNumber: server.trunkNumber, forwardedFromNumber: '+15005550150' })
  const types = (await eventsOf(server, id)).map(({ event_type }) => event_type)
  for (const type of ['carrier.initiated', 'carrier.answered', 'carrier.stream_started', 'carrier.hangup'])
    t.ok(types.includes(type), type)
  t.match(await setupOfNumber(), { forwardingRequired: false, issues: [] })
})

t.test("an agent calls a phone over the trunk, and both recognize each other's words", async (t) => {
  const phone = await SipPhone.open(t, server, farPort)
  const answering = phone.answer()
  const telephony = { amd: { mode: 'carrier', timeoutSeconds: 1 }, region: 'europe' }
  const wanted = { to: '+15005550007', from: server.trunkNumber, agentId: server.agentId, telephony }
  const dialed = await call(server, 'POST', '/v1/sessions/phone', wanted)
  t.equal(dialed.status, 200, dialed.text)
  const { sessionId: id } = dialed.json<{ sessionId: string }>()
  t.match(await answering, { from: /^sip:\+15005550140@/, to: /^sip:\+15005550007@/ })
  await said(id, /bicycle shop/)
  t.comment(`the agent has understood "${await understood(id, phone)}"`)
  t.comment(`the phone has received "${await receivedWords(id, phone)}"`)
  t.equal((await call(server, 'POST', `/v1/calls/${id}/end`)).status, 200)
  await phone.peer.request('BYE')
  const row = await callWhen(server, id, hasEnded)
  t.match(row, { status: 'completed', direction: 'outbound', from: server.trunkNumber, to: '+15005550007' })
  const payloadOf = async (type: string) =>
    (await eventsOf(server, id)).find(({ event_type }) => event_type === type)?.payload
  const detection = await payloadOf('carrier.machine_detection')
  t.match(detection, { mode: 'agent', requested_mode: 'carrier' }, 'no carrier is behind a trunk')
  const ignored = { direction: 'outbound', requested_region: 'europe', region: null }
  t.same(await payloadOf('carrier.initiated'), ignored, 'a trunk has no regions')
  const report = row.report as unknown as { cost_breakdown: { leg?: string; costMicroUsd: string }[] }
  const [line] = report.cost_breakdown.filter(({ leg }) => leg === 'caller')
  t.equal(line?.costMicroUsd, '0', 'the organization pays its trunk itself')
})

t.test('a call over the trunk to a busy phone or an unassigned number ends with its reason', async (t) => {
  const far = await SipPeer.open({ port: server.sipPort, bindPort: farPort, clock: server.clock })
  t.teardown(() => far.close())
  const dialing = call(server, 'POST', '/v1/sessions/phone', {
    to: '+15005550006',
    from: server.trunkNumber,
    agentId: server.agentId,
  })
  far.respond(await far.request('INVITE'), 486)
  const { sessionId } = (await dialing).json<{ sessionId: string }>()
  t.match(await callWhen(server, sessionId, hasEnded), { status: 'busy' })
  const caller = await SipPeer.open({ port: server.sipPort, clock: server.clock })
  t.teardown(() => caller.close())
  caller.send('INVITE', { callId: 'nobody', uri: 'sip:+15005550149@127.0.0.1' })
  await caller.response(404, 'INVITE')
})
