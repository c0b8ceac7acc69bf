/** The SIP trunk line's limits, as the settings define them. */
import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { PhoneLineError } from '../../domain/ports/phone-line.ts'
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import { valueOf } from '../../providers/trunk/message.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { until } from '../process/machine.ts'
import { openTrunk, outgoingTo, type TrunkSetup, toDial } from './setup.ts'
import { quiet, type SipPeer, sdp, sdpType, wanted } from './sip-peer.ts'

const of = (organizationId: string, id: string): SipConnection => ({
  ...{ id, organizationId, outbound: null, inbound: { username: null, password: null } },
})
const numbers: Readonly<Record<string, SipConnection>> = {
  1: of('org_one', 'sip_one'),
  2: of('org_one', 'sip_second_of_one'),
  3: of('org_other', 'sip_other'),
  4: of('org_third', 'sip_third'),
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

t.test("one organization's calls over SIP trunks cannot use the capacity of other organizations", async (t) => {
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

t.test('the number of simultaneous calls over all trunks is limited', async (t) => {
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

/** Opens a trunk whose address is known from a call. All later sender look-ups never end. */
async function slowTrunk(t: Test, more: TrunkSetup = {}) {
  const state = { isSlow: false, asked: 0 }
  const slow: TrunkSetup['ofAddress'] = (dialed) => {
    if (!state.isSlow) return Promise.resolve([numbers[dialed]!])
    state.asked++
    return new Promise(() => {})
  }
  const trunk = await openTrunk(t, { ofAddress: slow, limits: { lookupsMax: 16 }, ...more })
  t.equal(await rings(await trunk.peer(), '1', 'known'), true)
  state.isSlow = true
  return { trunk, state }
}

for (const [name, lookups, owners] of [
  ['an organization that is alone has all lookups apart from the share of strangers', 14, new Owners()],
  ['one of several organizations has its share of the lookups', 2, new Owners(true)],
] as const)
  t.test(`${name}, and its further calls over TCP are answered 503`, async (t) => {
    const { trunk, state } = await slowTrunk(t, { owners })
    const peer = await trunk.peer({ transport: 'tcp' })
    for (let n = 0; n <= lookups; n++) peer.send('OPTIONS', { callId: `call-${n}`, uri: 'sip:1@127.0.0.1' })
    const refusal = await peer.response(503)
    t.equal(refusal.callId, `call-${lookups}`)
    t.equal(valueOf(refusal.headers, 'retry-after'), '1')
    t.equal(state.asked, lookups)
  })

t.test('if the transaction table is full, a call over TCP gets 503, and is accepted later', async (t) => {
  const trunk = await openTrunk(t, { ofAddress, limits: { transactionsMax: 16 } })
  const peer = await trunk.peer({ transport: 'tcp' })
  for (let n = 1; n <= 14; n++) t.equal(await rings(peer, '1', `call-${n}`), true)
  t.equal(await rings(peer, '1', 'beyond'), false)
  t.match(valueOf((await peer.response(503)).headers, 'retry-after'), '1')
  await trunk.line.reject({ legId: 'x', carrierLegId: trunk.events[0]?.carrierLegId ?? '' }, 486)
  await trunk.clock.advance(32_000)
  t.equal(await rings(peer, '1', 'again'), true)
})

t.test("one organization's requests cannot fill the SIP transaction table for other organizations", async (t) => {
  const trunk = await openTrunk(t, { ofAddress, limits: { transactionsMax: 16 } })
  const peer = await trunk.peer()
  for (let n = 1; n <= 40; n++) {
    peer.send('OPTIONS', { callId: `options-${n}`, uri: 'sip:1@127.0.0.1' })
    await peer.response(200, 'OPTIONS', n)
  }
  for (let n = 1; n <= 14; n++) t.equal(await rings(peer, '1', `call-${n}`), true, `call ${n}`)
  const beyond = peer.send('INVITE', { callId: 'beyond', uri: 'sip:2@127.0.0.1', headers: [sdpType], body: sdp() })
  await quiet()
  t.notOk(
    peer.received.some(({ callId }) => callId === 'beyond'),
    'a call beyond the limit gets no answer',
  )
  for (let n = 1; n <= 2; n++) t.equal(await rings(peer, '3', `other-${n}`), true, 'another organization has its share')
  for (const { carrierLegId } of trunk.events.slice(0, 4)) await trunk.line.reject({ legId: 'x', carrierLegId }, 486)
  await trunk.clock.advance(32_000)
  peer.raw(beyond)
  await wanted(() => peer.responses(180).some(({ callId }) => callId === 'beyond'), 'the call that is repeated')
})

t.test('a refused call frees its transaction for an organization that uses less than its share', async (t) => {
  const trunk = await openTrunk(t, { ofAddress, limits: { transactionsMax: 16 } })
  const peer = await trunk.peer()
  for (let n = 1; n <= 14; n++) t.equal(await rings(peer, '1', `call-${n}`), true)
  for (let n = 1; n <= 2; n++) t.equal(await rings(peer, '3', `other-${n}`), true)
  const third = peer.send('INVITE', { callId: 'third', uri: 'sip:4@127.0.0.1', headers: [sdpType], body: sdp() })
  await quiet()
  t.notOk(
    peer.received.some(({ callId }) => callId === 'third'),
    'calls that ring keep their room',
  )
  const [first] = trunk.events
  await trunk.line.reject({ legId: 'x', carrierLegId: first?.carrierLegId ?? '' }, 486)
  peer.raw(third)
  await wanted(() => peer.responses(180).some(({ callId }) => callId === 'third'), 'the call that is repeated')
})

for (const [name, address, dialed] of [
  ['a trunk', '127.0.0.2', 'slow'],
  ['strangers', '127.0.0.3', 'nobody'],
] as const)
  t.test(`sender lookups for ${name} leave capacity for other organizations' trunks`, async (t) => {
    let isSlow = false
    let asked = 0
    const slow: TrunkSetup['ofAddress'] = (number) => {
      if (isSlow && number === dialed) {
        asked++
        return new Promise(() => {})
      }
      if (number === 'nobody') return Promise.resolve([])
      return Promise.resolve([number === 'slow' ? of('org_slow', 'sip_slow') : numbers['3']!])
    }
    const trunk = await openTrunk(t, { ofAddress: slow, limits: { lookupsMax: 16 } })
    const [honest, hostile] = [await trunk.peer(), await trunk.peer({ address })]
    t.equal(await rings(honest, '3', 'first'), true)
    hostile.send('OPTIONS', { callId: 'known', uri: `sip:${dialed}@127.0.0.1` })
    await quiet()
    isSlow = true
    await trunk.clock.advance(1_000)
    for (let n = 0; n < 100; n++) hostile.send('OPTIONS', { callId: `flood-${n}`, uri: `sip:${dialed}@127.0.0.1` })
    await quiet()
    t.equal(asked, 2, 'no more lookups than the share')
    t.equal(await rings(honest, '3', 'second'), true)
  })

/** Opens a TCP socket that sends nothing. Resolves once the trunk line has accepted or closed it. */
async function silentSocket(t: Test, port: number, localAddress = '127.0.0.1') {
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  t.teardown(() => socket.destroy())
  const state = { socket, isClosed: false }
  socket.on('error', () => {})
  socket.on('close', () => {
    state.isClosed = true
  })
  await once(socket, 'connect')
  await quiet()
  return state
}

t.test('a TCP socket without a message of a known sender is closed after ten seconds', async (t) => {
  const trunk = await openTrunk(t, { addresses: ['127.0.0.1'] })
  const [silent, stranger] = [
    await silentSocket(t, trunk.line.port),
    await silentSocket(t, trunk.line.port, '127.0.0.2'),
  ]
  const known = await trunk.peer({ transport: 'tcp' })
  await trunk.clock.advance(9_000)
  stranger.socket.write('OPTIONS sip:1@127.0.0.1 SIP/2.0\r\nContent-Length: 0\r\n\r\n')
  known.send('OPTIONS', { callId: 'known' })
  await known.response(200)
  t.same([silent.isClosed, stranger.isClosed], [false, false])
  await trunk.clock.advance(1_000)
  await wanted(() => silent.isClosed && stranger.isClosed, 'the end of both sockets')
  await trunk.clock.advance(590_000 - 1)
  known.send('OPTIONS', { callId: 'later' })
  await known.response(200, 'OPTIONS', 2)
})

t.test("an unknown address may open two TCP sockets, and a trunk's address may open more", async (t) => {
  const trunk = await openTrunk(t, { addresses: ['127.0.0.1'] })
  const strangers = []
  for (let n = 0; n < 3; n++) strangers.push(await silentSocket(t, trunk.line.port, '127.0.0.2'))
  t.same(
    strangers.map(({ isClosed }) => isClosed),
    [false, false, true],
  )
  for (let n = 1; n <= 4; n++) {
    const peer = await trunk.peer({ transport: 'tcp' })
    peer.send('OPTIONS', { callId: `known-${n}` })
    await peer.response(200)
  }
  const spare = []
  for (let n = 0; n < 4; n++) spare.push(await silentSocket(t, trunk.line.port))
  t.ok(spare.every(({ isClosed }) => !isClosed))
})

t.test('if unknown addresses use all TCP sockets, the oldest socket is closed for a new socket', async (t) => {
  const trunk = await openTrunk(t, { addresses: ['127.0.0.1'], limits: { socketsMax: 8 } })
  const strangers: Awaited<ReturnType<typeof silentSocket>>[] = []
  for (let n = 2; n < 10; n++) strangers.push(await silentSocket(t, trunk.line.port, `127.0.0.${n}`))
  const peer = await trunk.peer({ transport: 'tcp' })
  peer.send('OPTIONS', { callId: 'known' })
  await peer.response(200)
  await wanted(() => strangers[0]?.isClosed === true, 'the end of the oldest socket')
  t.equal(strangers.at(-1)?.isClosed, false)
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

// An organization can use only two of three TCP sockets, because the third is the other organizations' share.
for (const limits of [{ socketsMax: 3 }, { socketsPerAddressMax: 2 }])
  t.test(`the number of TCP sockets of the SIP line is limited: ${JSON.stringify(limits)}`, async (t) => {
    const trunk = await openTrunk(t, { ofAddress, limits })
    const peers = [await trunk.peer({ transport: 'tcp' }), await trunk.peer({ transport: 'tcp' })]
    for (const [at, peer] of peers.entries()) t.equal(await rings(peer, '1', `call-${at}`), true)
    t.equal(await isServed(trunk.line.port), false)
    peers[0]?.close()
    await until('a socket that is closed leaves its place', () => isServed(trunk.line.port))
  })
