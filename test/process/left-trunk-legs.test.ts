/**
 * If a process with calls over SIP trunks is killed, the next start hangs up all their legs, and a ringing phone stops.
 * Runs in real time.
 */
import t from 'tap'
import { hasEnded } from '../phone/call-rows.ts'
import { callWhen, newestInbound } from '../phone/real-time-calls.ts'
import { call } from '../platform/setup.ts'
import { SipPeer, sdp, sdpType } from '../trunk/sip-peer.ts'
import { SipPhone } from '../trunk/sip-phone.ts'
import { listenOverTcp } from '../trunk/tcp-listener.ts'
import { trunkEnv } from '../trunk/trunk-server.ts'
import { startBuiltTrunkServer } from './built-trunk-server.ts'
import { openDatabase } from './database.ts'
import { freePort, until } from './machine.ts'
import { startParley } from './parley.ts'

const endsWithinMs = 30_000

t.test('within 30 s of a restart each SIP leg of the killed process gets BYE, or CANCEL if it rings', async (t) => {
  const farPort = await freePort()
  const server = await startBuiltTrunkServer(farPort)
  t.teardown(() => server.close())
  const known = new Set<string>()
  const inProgress = async () => {
    const id = await newestInbound(server, known)
    known.add(id)
    await callWhen(server, id, ({ status }) => status === 'in_progress')
    return id
  }

  const lone = await SipPhone.open(t, server)
  await lone.call(server.trunkNumber, '+15005550007')
  const ids = [await inProgress()]

  const listener = await listenOverTcp(t)
  const overTcp = await SipPeer.open({ port: server.sipPort, transport: 'tcp', contactPort: listener.port })
  t.teardown(() => overTcp.close())
  const uri = `sip:${server.trunkNumber}@127.0.0.1`
  overTcp.send('INVITE', { callId: 'over-tcp', uri, headers: [sdpType], body: sdp({ port: 9 }) })
  const ok = await overTcp.response(200, 'INVITE')
  overTcp.send('ACK', { callId: 'over-tcp', uri, to: ok.to.text })
  ids.push(await inProgress())

  // These two phones are connected through this server, so they receive no audio after its process was killed.
  const [caller, recipient] = [await SipPhone.open(t, server), await SipPhone.open(t, server, farPort)]
  await caller.call(server.trunkNumber, '+15005550008')
  const id = await inProgress()
  ids.push(id)
  const answering = recipient.answer()
  const asked = await call(server, 'POST', `/v1/calls/${id}/transfers/warm`, { to: '+15005550006' })
  t.equal(asked.status, 201, asked.text)
  await answering
  const transfers = (row: object) => (row as { transfers: { id: string; status: string }[] }).transfers
  const row = await callWhen(server, id, (row) => transfers(row)[0]?.status === 'screening')
  await call(server, 'POST', `/v1/calls/${id}/transfers/${transfers(row)[0]?.id}/complete`, {})
  await callWhen(server, id, (row) => transfers(row)[0]?.status === 'completed')

  // A fourth phone rings.
  const calling = { to: '+15005550009', from: server.trunkNumber, agentId: server.agentId }
  const ringing = call(server, 'POST', '/v1/sessions/phone', calling)
  const invite = await recipient.peer.request('INVITE', 2)
  recipient.peer.respond(invite, 180)
  ids.push((await ringing).json<{ sessionId: string }>().sessionId)

  const { parley } = server
  const sql = openDatabase(parley.dataDir)
  t.teardown(() => sql.end())
  const withDialog = async () => (await sql`select id from call_legs where dialog is not null`).length
  await until('what ends each leg is stored', async () => (await withDialog()) === 5)
  await parley.kill()
  const startedMs = Date.now()
  const next = await startParley(trunkEnv(server.sipPort), parley.dataDir)
  t.teardown(() => next.remove())
  const phones = [lone.peer, caller.peer, recipient.peer]
  const cancel = () => recipient.peer.requests('CANCEL')[0]
  const ends = () => [...phones.map((peer) => peer.requests('BYE')[0]), listener.requests[0], cancel()]
  await until('a BYE or CANCEL at every far end', () => ends().every(Boolean), endsWithinMs)
  t.comment(`the last one came ${Date.now() - startedMs} ms after the next start`)
  t.match(listener.requests[0], { method: 'BYE', callId: 'over-tcp', from: { tag: ok.to.tag } })
  for (const phone of phones) phone.respond(phone.requests('BYE')[0]!, 200)
  t.match(cancel(), { callId: invite.callId, via: { branch: invite.via.branch } })
  recipient.peer.respond(cancel()!, 200)
  recipient.peer.respond(invite, 487)
  const target = { url: next.url, key: next.key }
  for (const each of ids) await callWhen(target, each, hasEnded)
  const open = () => sql`select id from call_legs where ended_at is null or dialog is not null`
  await until('the end of all legs', async () => (await open()).length === 0)
})
