/** Calls over a trunk that are transferred: by this server, which connects both legs, and by the far end of the caller. */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { readFixture } from '../speech/fixtures.ts'
import { freePort } from '../trunk/free-port.ts'
import { SipPhone } from '../trunk/sip-phone.ts'
import { startTrunkServer } from '../trunk/trunk-server.ts'
import { callWhen, hasEnded, newestInbound } from './phones.ts'

/** The other side of the trunk, where calls go out to. */
const farPort = await freePort()
const server = await startTrunkServer(farPort)
t.teardown(() => server.close())

const voice = new Int16Array(readFixture('please-try-call-later').slice(44).buffer)
const recipient = '+15005550006'

t.test('a recipient takes the call by a key, and both talk through this server', async (t) => {
  const [caller, other] = [await SipPhone.open(t, server.sipPort), await SipPhone.open(t, server.sipPort, farPort)]
  await caller.call(server.trunkNumber, '+15005550007')
  const id = await newestInbound(server)
  await callWhen(server, id, ({ status }) => status === 'in_progress')
  const answering = other.answer()
  const asked = await call(server, 'POST', `/v1/calls/${id}/transfers/warm`, { to: recipient })
  t.equal(asked.status, 201, asked.text)
  t.match(await answering, { from: /^sip:\+15005550140@/, to: /^sip:\+15005550006@/ })
  const statusIs = (wanted: string) => (row: object) =>
    (row as { transfers: { status: string }[] }).transfers[0]?.status === wanted
  await callWhen(server, id, statusIs('screening'))
  other.press(1)
  const row = await callWhen(server, id, statusIs('completed'))
  t.match(row['transfers'], [{ outbound_trunk_id: server.connectionId }])
  t.ok(await other.receives(voice, () => caller.say(voice)), 'the recipient receives the caller')
  t.ok(await caller.receives(voice, () => other.say(voice)), 'the caller receives the recipient')
  other.hangUp()
  await caller.peer.request('BYE')
  t.match(await callWhen(server, id, hasEnded), { status: 'completed', end_reason: 'transferred' })
})

t.test('the far end of the caller calls the recipient itself, and the call here ends', async (t) => {
  const caller = await SipPhone.open(t, server.sipPort)
  await caller.call(server.trunkNumber, '+15005550007')
  const id = await newestInbound(server)
  await callWhen(server, id, ({ status }) => status === 'in_progress')
  const transferring = caller.transfers()
  const asked = await call(server, 'POST', `/v1/calls/${id}/transfers/blind`, { to: recipient })
  t.equal(asked.status, 201, asked.text)
  t.match(await transferring, /^<sip:\+15005550006@127\.0\.0\.1/)
  await caller.peer.request('BYE')
  const row = await callWhen(server, id, hasEnded)
  t.match(row, { status: 'completed', end_reason: 'transferred' })
  t.match(row['transfers'], [{ status: 'completed', kind: 'blind' }])
})
