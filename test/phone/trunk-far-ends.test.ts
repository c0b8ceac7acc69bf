/** Tests a phone on a SIP trunk that stops sending audio and later no longer knows the call, over a whole server. */
import t from 'tap'
import type { SipRequest } from '../../providers/trunk/message.ts'
import { freePort } from '../process/machine.ts'
import { SipPhone } from '../trunk/sip-phone.ts'
import { startTrunkServer } from '../trunk/trunk-server.ts'
import { eventsOf, hasEnded } from './call-rows.ts'
import { callWhen, newestInbound } from './phones.ts'

const server = await startTrunkServer(await freePort(), { PARLEY_SIP_FAR_END_QUIET_MS: '5000' })
t.teardown(() => server.close())

t.test("a call on hold stays open while the caller's phone answers OPTIONS, and ends if it answers 481", async (t) => {
  const phone = await SipPhone.open(t, server)
  await phone.call('5005550140', '+15005550006')
  const id = await newestInbound(server)
  await callWhen(server, id, ({ status }) => status === 'in_progress')
  phone.fallSilent()
  // SIP repeats an unanswered OPTIONS request, so only a request with a higher CSeq is a new one.
  const questionAfter = async (number: number) => {
    const next = () => phone.peer.requests('OPTIONS').find(({ to, cseq }) => to.tag !== null && cseq.number > number)
    await server.clock.until('the far end is asked', () => next() !== undefined)
    return next() as SipRequest
  }
  const first = await questionAfter(0)
  phone.peer.respond(first, 200)
  const second = await questionAfter(first.cseq.number)
  t.match(await callWhen(server, id, () => true), { status: 'in_progress' }, 'the far end holds the call')
  // The phone has restarted, so it does not know the call and answers 481.
  phone.peer.respond(second, 481)
  t.match(await callWhen(server, id, hasEnded), { status: 'completed' })
  const events = await eventsOf(server, id)
  const hangup = events.find(({ event_type: type }) => type === 'carrier.hangup')
  t.match(hangup, { provider: 'carrier', payload: { cause: 'far_end_gone', by: 'unknown' } })
})
