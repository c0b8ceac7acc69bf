/** Calls over a SIP trunk outside the United States: a number without a country code belongs to the trunk's country. */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { freePort } from '../process/machine.ts'
import { SipPeer, sdp, sdpType } from '../trunk/sip-peer.ts'
import { startTrunkServer } from '../trunk/trunk-server.ts'
import { callWhen, newestInbound } from './phones.ts'

const server = await startTrunkServer(await freePort())
t.teardown(() => server.close())
const dialed = '+390698765430'
const { agentId, connectionId: sipConnectionInstallationId } = server
const wanted = { e164: dialed, sipConnectionInstallationId, agentId }
const imported = await call(server, 'POST', '/v1/phone-numbers/import', wanted)
t.equal(imported.status, 201, imported.text)

const diversion = (number: string) => `Diversion: <sip:${number}@trunk.example>;reason=no-answer`
const history = (number: string) =>
  `History-Info: <sip:${number}@trunk.example>;index=1, <sip:0698765430@trunk.example>;index=1.1`

const rows: [from: string, to: string, header: string | null, caller: string | null, forwardedFrom: string | null][] = [
  ['3472345678', '0698765430', diversion('390698765432'), '+393472345678', '+390698765432'],
  ['393472345678', '390698765430', diversion('0698765432'), '+393472345678', '+390698765432'],
  ['+14155550123', dialed, history('0698765432'), '+14155550123', '+390698765432'],
  ['anonymous', dialed, diversion('0698765430'), null, null],
]

t.test('national caller and forwarding numbers over an Italian trunk get the country code', async (t) => {
  const known = new Set<string>()
  for (const [at, [from, to, header, caller, forwardedFrom]] of rows.entries()) {
    const peer = await SipPeer.open({ port: server.sipPort, clock: server.clock })
    t.teardown(() => peer.close())
    const sent = { callId: `foreign-${at}`, uri: `sip:${to}@127.0.0.1`, from: `<sip:${from}@127.0.0.1>;tag=far` }
    peer.send('INVITE', { ...sent, headers: [sdpType, ...(header === null ? [] : [header])], body: sdp() })
    const ok = await peer.response(200, 'INVITE')
    peer.send('ACK', { ...sent, to: ok.to.text })
    const id = await newestInbound(server, known)
    known.add(id)
    const row = await callWhen(server, id, () => true)
    t.match(row, { from: caller, to: dialed }, from)
    const numbers = { callerNumber: caller, dialedNumber: dialed, forwardedFromNumber: forwardedFrom }
    t.match(row['metadata'], numbers, `${from}, ${header}`)
    peer.send('BYE', { ...sent, to: ok.to.text, cseq: 2 })
    await callWhen(server, id, ({ ended_at }) => ended_at !== null)
  }
})
