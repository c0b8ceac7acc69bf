/**
 * Tests transfers for trunk calls: this server connects both legs, or the caller's SIP endpoint dials the recipient.
 */
import t, { type Test } from 'tap'
import { call, faultOf } from '../platform/setup.ts'
import { freePort } from '../process/machine.ts'
import { readFixture } from '../speech/fixtures.ts'
import { SipPhone } from '../trunk/sip-phone.ts'
import { startTrunkServer } from '../trunk/trunk-server.ts'
import { hasEnded } from './call-rows.ts'
import { callWhen, newestInbound } from './phones.ts'

/** The port for the trunk's other side, which receives outbound calls. */
const farPort = await freePort()
const server = await startTrunkServer(farPort)
t.teardown(() => server.close())

const voice = new Int16Array(readFixture('please-try-call-later').slice(44).buffer)
const recipient = '+15005550006'

type Answer = Awaited<ReturnType<typeof call>>
const known = new Set<string>()

t.test('over a trunk a recipient accepts with a key, and the audio of both legs passes this server', async (t) => {
  const [caller, other] = [await SipPhone.open(t, server), await SipPhone.open(t, server, farPort)]
  await caller.call(server.trunkNumber, '+15005550007')
  const id = await newestInbound(server, known)
  known.add(id)
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
  caller.say(voice)
  await t.resolves(other.receives(voice), 'the recipient receives the caller')
  other.say(voice)
  await t.resolves(caller.receives(voice), 'the caller receives the recipient')
  other.hangUp()
  await caller.peer.request('BYE')
  t.match(await callWhen(server, id, hasEnded), { status: 'completed', end_reason: 'transferred' })
})

t.test("after a REFER the caller's SIP endpoint dials the recipient, and the call on this server ends", async (t) => {
  const caller = await SipPhone.open(t, server)
  await caller.call(server.trunkNumber, '+15005550007')
  const id = await newestInbound(server, known)
  known.add(id)
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

/** Makes a number and calls it. `change` changes the number during the call, and then the call is transferred. */
async function transferredAfter(t: Test, e164: string, change: (path: string) => Promise<Answer>, asked: object = {}) {
  const { agentId, connectionId: sipConnectionInstallationId } = server
  const wanted = { e164, sipConnectionInstallationId, agentId }
  const imported = await call(server, 'POST', '/v1/phone-numbers/import', wanted)
  t.equal(imported.status, 201, imported.text)
  const caller = await SipPhone.open(t, server)
  await caller.call(e164, '+15005550007')
  const id = await newestInbound(server, known)
  known.add(id)
  await callWhen(server, id, ({ status }) => status === 'in_progress')
  const changed = await change(`/v1/phone-numbers/${imported.json<{ id: string }>().id}`)
  t.equal(changed.status, 200, changed.text)
  const transfer = await call(server, 'POST', `/v1/calls/${id}/transfers/warm`, { to: recipient, ...asked })
  return { transfer, id, caller }
}

t.test("if a call's number is deleted or moved, a transfer of the call uses the same SIP connection", async (t) => {
  const outbound = { host: '127.0.0.1', port: await freePort() }
  const inbound = { allowedAddresses: ['127.0.0.2/32'] }
  const made = await call(server, 'POST', '/v1/phone-numbers/sip-connections', { name: 'Other', outbound, inbound })
  t.equal(made.status, 201, made.text)
  const moved = { sipConnectionInstallationId: made.json<{ id: string }>().id }
  const changes: [e164: string, change: (path: string) => Promise<Answer>, asked: object][] = [
    ['+15005550141', (path) => call(server, 'DELETE', path), {}],
    ['+15005550142', (path) => call(server, 'PATCH', path, moved), {}],
    ['+15005550143', (path) => call(server, 'PATCH', path, moved), { from: '+15005550143' }],
  ]
  for (const [e164, change, asked] of changes) {
    await t.test(e164, async (t) => {
      const other = await SipPhone.open(t, server, farPort)
      const answering = other.answer()
      const { transfer, id, caller } = await transferredAfter(t, e164, change, asked)
      t.match(transfer.json(), { failure_cause: null, outbound_trunk_id: server.connectionId }, transfer.text)
      t.match(await answering, { from: new RegExp(`^sip:\\${e164}@`), to: /^sip:\+15005550006@/ })
      caller.hangUp()
      await callWhen(server, id, hasEnded)
    })
  }
})

t.test("if a call's number is deleted, a transfer with another number in `from` is refused", async (t) => {
  const remove = (path: string) => call(server, 'DELETE', path)
  const asked = { from: server.number }
  const { transfer, id, caller } = await transferredAfter(t, '+15005550144', remove, asked)
  t.same(faultOf(transfer), { status: 400, code: 'VALIDATION_ERROR', paths: ['/from'] })
  caller.hangUp()
  await callWhen(server, id, hasEnded)
})
