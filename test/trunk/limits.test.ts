/** The trunk line's limits, as in the settings. */
import { connect } from 'node:net'
import t from 'tap'
import { PhoneLineError } from '../../domain/ports/phone-line.ts'
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import { until } from '../process/machine.ts'
import { openTrunk, outgoingTo, type TrunkSetup, toDial } from './setup.ts'
import { type SipPeer, sdp, sdpType, wanted } from './sip-peer.ts'

const of = (organizationId: string, id: string): SipConnection => ({
  ...{ id, organizationId, outbound: null, inbound: { username: null, password: null } },
})
const numbers: Readonly<Record<string, SipConnection>> = {
  1: of('org_one', 'sip_one'),
  2: of('org_one', 'sip_second_of_one'),
  3: of('org_other', 'sip_other'),
}
const ofAddress: TrunkSetup['ofAddress'] = (dialed) => Promise.resolve([numbers[dialed]!])

async function rings(peer: SipPeer, dialed: string, callId: string): Promise<boolean> {
  peer.send('INVITE', { callId, uri: `sip:${dialed}@127.0.0.1`, headers: [sdpType], body: sdp() })
  const answer = await wanted(
    () => [...peer.responses(180), ...peer.responses(503)].find((response) => response.callId === callId),
    `an answer to ${callId}`,
  )
  return answer.code === 180
}

t.test("one organization's trunk legs leave places for other organizations", async (t) => {
  const outgoing = () => [{ ...outgoingTo(9), organizationId: 'org_one' }]
  const trunk = await openTrunk(t, { ofAddress, outgoing, limits: { legsMax: 4, legsPerOrganizationMax: 2 } })
  const peer = await trunk.peer()
  t.equal(await rings(peer, '1', 'first'), true)
  t.equal(await rings(peer, '2', 'second'), true)
  t.equal(await rings(peer, '1', 'third'), false, 'one organization has as many as it may have')
  t.equal(await rings(peer, '2', 'fourth'), false, 'over each of its connections')
  await t.rejects(trunk.line.dial(toDial(), new AbortController().signal), new PhoneLineError('unreachable'))
  t.equal(await rings(peer, '3', 'of another'), true)
  const [first] = trunk.events
  await trunk.line.hangUp({ legId: 'x', carrierLegId: first?.carrierLegId ?? '' })
  t.equal(await rings(peer, '1', 'fifth'), true, 'a call that is over leaves its place')
})

t.test('the number of all trunk legs is limited', async (t) => {
  const trunk = await openTrunk(t, { ofAddress, limits: { legsMax: 2 } })
  const peer = await trunk.peer()
  t.equal(await rings(peer, '1', 'first'), true)
  t.equal(await rings(peer, '3', 'second'), true)
  t.equal(await rings(peer, '3', 'third'), false)
})

t.test('SIP messages whose sender cannot be looked up are dropped, and accepted when they are repeated', async (t) => {
  let found: (connections: readonly SipConnection[]) => void = () => {}
  let asked = 0
  const held = new Promise<readonly SipConnection[]>((resolve) => {
    found = resolve
  })
  const slow = () => {
    asked++
    return held
  }
  const trunk = await openTrunk(t, { ofAddress: slow, limits: { lookupsMax: 1 } })
  const peer = await trunk.peer()
  peer.send('OPTIONS', { callId: 'first' })
  await wanted(() => asked === 1, 'a question to the store')
  const second = peer.send('OPTIONS', { callId: 'second' })
  peer.send('BYE', { callId: 'gone', to: '<sip:x@127.0.0.1>;tag=x' })
  await peer.response(481)
  t.equal(asked, 1, 'the second message is dropped')
  found([numbers['1']!])
  await peer.response(200)
  peer.raw(second)
  await peer.response(200, 'OPTIONS', 2)
  t.equal(asked, 2)
})

/** True if a new TCP socket gets an answer before it is closed. */
async function isServed(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  const result = new Promise<boolean>((resolve) => {
    socket.on('error', () => resolve(false))
    socket.on('close', () => resolve(false))
    socket.on('data', () => resolve(true))
  })
  const head = ['OPTIONS sip:1@127.0.0.1 SIP/2.0', 'Via: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bK-x']
  const names = ['From: <sip:1@127.0.0.1>;tag=x', 'To: <sip:1@127.0.0.1>', 'Call-ID: x', 'CSeq: 1 OPTIONS']
  socket.write([...head, ...names, 'Content-Length: 0', '', ''].join('\r\n'))
  return result.finally(() => socket.destroy())
}

for (const limits of [{ socketsMax: 2 }, { socketsPerAddressMax: 2 }])
  t.test(`the number of TCP sockets of the SIP line is limited: ${JSON.stringify(limits)}`, async (t) => {
    const trunk = await openTrunk(t, { ofAddress, limits })
    const peers = [await trunk.peer({ transport: 'tcp' }), await trunk.peer({ transport: 'tcp' })]
    for (const [at, peer] of peers.entries()) t.equal(await rings(peer, '3', `call-${at}`), true)
    t.equal(await isServed(trunk.line.port), false)
    peers[0]?.close()
    await until('a socket that is closed leaves its place', () => isServed(trunk.line.port))
  })
