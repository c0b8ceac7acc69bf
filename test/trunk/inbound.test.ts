/** Inbound calls over a trunk: the other side speaks SIP over real sockets. */
import t from 'tap'
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import { valueOf } from '../../providers/trunk/message.ts'
import { legId, media, openTrunk, plain, type Trunk } from './setup.ts'
import { quiet, type SipPeer, sdp, sdpType, wanted } from './sip-peer.ts'

const invite = { callId: 'call-1', headers: [sdpType], body: sdp() }
/** RFC 3261 §8.1.1.5: a sequence number is less than 2**31. */
const cseqMax = 2 ** 31 - 1

/** Makes an answered and acknowledged call. */
async function talking(trunk: Trunk, peer: SipPeer) {
  peer.send('INVITE', invite)
  const { carrierLegId } = await trunk.event('initiated')
  await peer.response(180)
  const ref = { legId, carrierLegId }
  await trunk.line.answer(ref, media)
  const ok = await peer.response(200, 'INVITE')
  peer.send('ACK', { callId: 'call-1', to: ok.to.text })
  await trunk.event('answered')
  return { ref, to: ok.to.text, ok }
}

for (const transport of ['udp', 'tcp'] as const)
  t.test(`a call over ${transport} is announced, answered and hung up by the caller`, async (t) => {
    const trunk = await openTrunk(t)
    const peer = await trunk.peer({ transport })
    const { ref, to, ok } = await talking(trunk, peer)
    t.equal(peer.responses(100).length, 1)
    t.match(ok.body, /m=audio 42000 RTP\/AVP 0 101\r\na=rtpmap:0 PCMU\/8000/)
    t.match(trunk.events[0], {
      type: 'initiated',
      direction: 'incoming',
      from: '+15557654321',
      to: '+15550001111',
      connectionId: 'sip_one',
      legId: null,
    })
    t.match(trunk.rtps[0]?.starts, [{ address: '127.0.0.1', port: 40_000, encoding: 'PCMU', dtmfPayloadType: 101 }])
    t.equal(trunk.sinks.length, 1)
    t.ok(await trunk.line.isAlive(ref))
    peer.send('BYE', { callId: 'call-1', to, cseq: 2, headers: ['Reason: Q.850;cause=17;text="busy"'] })
    await peer.response(200, 'BYE')
    t.match(await trunk.event('hangup'), { sipCode: null, cause: 'user_busy', by: 'caller', legId })
    await wanted(() => trunk.rtps[0]?.isClosed, 'the end of the audio')
    t.notOk(await trunk.line.isAlive(ref))
    t.same(trunk.types(), ['initiated', 'answered', 'stream_started', 'stream_stopped', 'hangup'])
    t.equal(new Set(trunk.events.map(({ id }) => id)).size, 5)
  })

t.test('our side ends a call with BYE, and repeats the BYE until it is answered', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const { ref } = await talking(trunk, peer)
  await trunk.line.hangUp(ref)
  const bye = await peer.request('BYE')
  t.equal(bye.uri, `sip:far@127.0.0.1:${peer.port}`)
  await trunk.clock.advance(500)
  await peer.request('BYE', 2)
  peer.respond(bye, 200)
  await quiet()
  await trunk.clock.advance(40_000)
  await quiet()
  t.equal(peer.requests('BYE').length, 2)
  t.match(await trunk.event('hangup'), { by: 'callee', cause: 'normal_clearing' })
})

t.test('the 200 to an INVITE is repeated until the ACK, and the call ends if no ACK arrives', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  peer.send('INVITE', invite)
  const { carrierLegId } = await trunk.event('initiated')
  await trunk.line.answer({ legId, carrierLegId }, media)
  await peer.response(200, 'INVITE')
  await trunk.clock.advance(500)
  await peer.response(200, 'INVITE', 2)
  await trunk.clock.advance(1_000)
  await peer.response(200, 'INVITE', 3)
  await trunk.clock.advance(32_000)
  await peer.request('BYE')
  t.match(await trunk.event('hangup'), { cause: 'timeout' })
  t.equal(trunk.sinks.length, 0)
})

t.test('a repeated INVITE is announced once, and gets the last response again', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const text = peer.send('INVITE', { ...invite, branch: 'z9hG4bK-same' })
  await peer.response(180)
  peer.raw(text)
  await peer.response(180, 'INVITE', 2)
  t.same(trunk.types(), ['initiated'])
})

t.test('a caller over the trunk who hangs up before the answer ends the call', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  peer.send('INVITE', { ...invite, branch: 'z9hG4bK-left' })
  await peer.response(180)
  peer.send('CANCEL', { callId: 'call-1', branch: 'z9hG4bK-left' })
  await peer.response(200, 'CANCEL')
  await peer.response(487, 'INVITE')
  peer.send('ACK', { callId: 'call-1', branch: 'z9hG4bK-left' })
  await quiet()
  await trunk.clock.advance(10_000)
  await quiet()
  t.equal(peer.responses(487).length, 1, 'the refusal is acknowledged')
  t.match(await trunk.event('hangup'), { sipCode: 487, cause: 'originator_cancel', by: 'caller' })
  peer.send('CANCEL', { callId: 'another', branch: 'z9hG4bK-another' })
  await peer.response(481, 'CANCEL')
})

t.test('if a caller hangs up while the sender of the INVITE is looked up, no call is announced', async (t) => {
  let found: (connections: SipConnection[]) => void = () => {}
  const lookup = new Promise<SipConnection[]>((resolve) => {
    found = resolve
  })
  const trunk = await openTrunk(t, { ofAddress: () => lookup })
  const peer = await trunk.peer()
  peer.send('INVITE', { ...invite, branch: 'z9hG4bK-early' })
  peer.send('CANCEL', { callId: 'call-1', branch: 'z9hG4bK-early' })
  await peer.response(200, 'CANCEL')
  found([plain])
  await peer.response(487, 'INVITE')
  await quiet()
  t.same(trunk.types(), [])
  t.same(peer.responses(180), [])
})

for (const code of [404, 480, 486, 503] as const)
  t.test(`a call over the trunk is refused with ${code}, and the refusal is repeated until the ACK`, async (t) => {
    const trunk = await openTrunk(t)
    const peer = await trunk.peer()
    peer.send('INVITE', invite)
    const { carrierLegId } = await trunk.event('initiated')
    await trunk.line.reject({ legId, carrierLegId }, code)
    await peer.response(code)
    await trunk.clock.advance(500)
    await peer.response(code, 'INVITE', 2)
    t.match(await trunk.event('hangup'), { sipCode: code })
  })

t.test('a call over the trunk is refused while the store does not answer', async (t) => {
  const trunk = await openTrunk(t, { fails: true })
  const peer = await trunk.peer()
  peer.send('INVITE', invite)
  await peer.response(500)
  t.equal(peer.responses(180).length, 0)
})

t.test("an inbound call has its caller's number and the number that forwarded it", async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const of = async (callId: string, headers: string[], from?: string) => {
    peer.send('INVITE', { ...invite, callId, headers: [sdpType, ...headers], ...(from && { from }) })
    return wanted(() => trunk.events[Number(callId) - 1], `call ${callId}`)
  }
  t.match(
    await of('1', ['Diversion: <sip:+15559990000@carrier.test>;reason=no-answer', 'Diversion: <sip:+15559990001@a>']),
    {
      forwarding: {
        diversion: ['<sip:+15559990000@carrier.test>;reason=no-answer', '<sip:+15559990001@a>'],
        historyInfo: [],
        forwardedFrom: null,
      },
    },
  )
  t.match(await of('2', ['History-Info: <sip:+15559990000@a>;index=1, <sip:+15550001111@a>;index=1.1']), {
    forwarding: { historyInfo: ['<sip:+15559990000@a>;index=1', '<sip:+15550001111@a>;index=1.1'] },
  })
  t.match(await of('3', [], '"Anonymous" <sip:anonymous@anonymous.invalid>;tag=x'), { from: null })
  t.match(await of('4', ['Privacy: id', 'P-Asserted-Identity: <sip:+15551112222@a>']), { from: null })
  t.match(await of('5', ['P-Asserted-Identity: "A, B" <tel:+15551112222>']), { from: '+15551112222' })
})

t.test('unsupported audio formats and SIP extensions are refused', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  peer.send('INVITE', { ...invite, callId: 'opus', body: sdp({ types: '96', more: ['a=rtpmap:96 opus/48000/2'] }) })
  await peer.response(488)
  peer.send('INVITE', { ...invite, callId: 'scope', body: sdp({ address: 'fe80::1%eth0' }) })
  await peer.response(488, 'INVITE', 2)
  peer.send('INVITE', { ...invite, callId: 'require', headers: [sdpType, 'Require: 100rel'] })
  const refused = await peer.response(420)
  t.ok(refused.headers.some(([name, value]) => name === 'unsupported' && value === '100rel'))
  t.same(trunk.types(), [])
})

t.test('A-law is used if the caller prefers it, and additional streams are refused', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const body = `${sdp({ types: '8 0 101' })}m=video 40002 RTP/AVP 96\r\n`
  peer.send('INVITE', { ...invite, body })
  const { carrierLegId } = await trunk.event('initiated')
  await trunk.line.answer({ legId, carrierLegId }, media)
  const ok = await peer.response(200, 'INVITE')
  t.match(ok.body, /m=audio 42000 RTP\/AVP 8 101/)
  t.match(ok.body, /m=video 0 RTP\/AVP 96/)
})

t.test('an INVITE without an SDP offer gets our offer, and the answer is read from the ACK', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  peer.send('INVITE', { callId: 'call-1' })
  const { carrierLegId } = await trunk.event('initiated')
  await trunk.line.answer({ legId, carrierLegId }, media)
  const ok = await peer.response(200, 'INVITE')
  t.match(ok.body, /m=audio 42000 RTP\/AVP 0 8 101/)
  peer.send('ACK', { callId: 'call-1', to: ok.to.text, headers: [sdpType], body: sdp({ port: 41_000 }) })
  await trunk.event('stream_started')
  t.match(trunk.rtps[0]?.starts, [{ port: 41_000 }])
})

t.test('a caller may put the call on hold, and move its audio to another address', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const { to } = await talking(trunk, peer)
  const held = sdp({ more: ['a=sendonly'] })
  peer.send('INVITE', { ...invite, to, cseq: 2, body: held })
  const ok = await peer.response(200, 'INVITE', 2)
  t.match(ok.body, /a=recvonly/)
  t.match(ok.body, /o=parley \d+ 2 /)
  peer.send('ACK', { callId: 'call-1', to, cseq: 2 })
  peer.send('INVITE', { ...invite, to, cseq: 3, body: sdp({ port: 45_000 }) })
  await peer.response(200, 'INVITE', 3)
  t.match(trunk.rtps[0]?.starts.slice(1), [{ direction: 'sendonly' }, { port: 45_000, direction: 'sendrecv' }])
  t.equal(trunk.sinks.length, 1)
  t.notOk(trunk.types().includes('hangup'))
})

t.test('a call goes on through 200 new offers, and a BYE with the highest sequence number ends it', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const { to } = await talking(trunk, peer)
  for (let cseq = 2; cseq <= 201; cseq++) {
    peer.send('INVITE', { ...invite, to, cseq, body: sdp() })
    await peer.response(200, 'INVITE', cseq)
    peer.send('ACK', { callId: 'call-1', to, cseq })
  }
  t.notOk(trunk.types().includes('hangup'))
  peer.send('BYE', { callId: 'call-1', to, cseq: cseqMax })
  await peer.response(200, 'BYE')
  t.match(await trunk.event('hangup'), { by: 'caller' })
})

t.test('SIP requests in a dialog are accepted only from the other side, and only in order', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const { ref, to } = await talking(trunk, peer)
  peer.send('BYE', { callId: 'call-1', to, cseq: 2, from: '<sip:x@127.0.0.1>;tag=stranger' })
  await peer.response(481, 'BYE')
  peer.send('REFER', { callId: 'call-1', to, cseq: 3, headers: ['Refer-To: <sip:+19005550000@evil.test>'] })
  await peer.response(603, 'REFER')
  peer.send('OPTIONS', { callId: 'call-1', to, cseq: 4 })
  await peer.response(200, 'OPTIONS')
  peer.send('NOTIFY', { callId: 'call-1', to, cseq: 5, headers: ['Event: refer'] })
  await peer.response(481, 'NOTIFY')
  peer.send('MESSAGE', { callId: 'call-1', to, cseq: 6 })
  const refused = await peer.response(405, 'MESSAGE')
  t.notMatch(valueOf(refused.headers, 'allow'), /MESSAGE/)
  peer.send('BYE', { callId: 'call-1', to, cseq: 4 })
  await peer.response(500, 'BYE')
  t.ok(await trunk.line.isAlive(ref))
  peer.send('BYE', { callId: 'call-1', to: '<sip:x@127.0.0.1>;tag=unknown', cseq: 9 })
  await peer.response(481, 'BYE', 2)
})

t.test("a BYE is accepted from each address of the call's connection, and from no other address", async (t) => {
  const trunk = await openTrunk(t, { addresses: ['127.0.0.1', '127.0.0.2'] })
  const { ref, to } = await talking(trunk, await trunk.peer())
  const stranger = await trunk.peer({ address: '127.0.0.3' })
  stranger.send('BYE', { callId: 'call-1', to, cseq: 2 })
  await stranger.response(481, 'BYE')
  t.ok(await trunk.line.isAlive(ref))
  const second = await trunk.peer({ address: '127.0.0.2' })
  second.send('BYE', { callId: 'call-1', to, cseq: 3 })
  await second.response(200, 'BYE')
  t.match(await trunk.event('hangup'), { by: 'caller' })
})

t.test('if the sender of a BYE cannot be looked up, the BYE gets no answer, so it is repeated', async (t) => {
  let isStoreAway = true
  const trunk = await openTrunk(t, { addresses: ['127.0.0.1', '127.0.0.2'], isStoreAway: () => isStoreAway })
  const { ref, to } = await talking(trunk, await trunk.peer())
  const second = await trunk.peer({ address: '127.0.0.2' })
  second.send('BYE', { callId: 'call-1', to, cseq: 2 })
  await wanted(() => trunk.logged.some((line) => line.includes('could not be looked up')), 'the failed question')
  await quiet()
  t.same(second.received, [])
  t.ok(await trunk.line.isAlive(ref))
  isStoreAway = false
  second.send('BYE', { callId: 'call-1', to, cseq: 2 })
  await second.response(200, 'BYE')
})

t.test('an ACK is accepted only from the other side, with the sequence number of its INVITE', async (t) => {
  const trunk = await openTrunk(t, { addresses: ['127.0.0.1'] })
  const peer = await trunk.peer()
  const call = { callId: 'call-1', from: '<sip:+15557654321@127.0.0.1>;tag=far' }
  peer.send('INVITE', { ...call, headers: [sdpType], body: sdp() })
  const { carrierLegId } = await trunk.event('initiated')
  await trunk.line.answer({ legId, carrierLegId }, media)
  const { to } = await peer.response(200, 'INVITE')
  const stranger = await trunk.peer({ address: '127.0.0.2' })
  stranger.send('ACK', { ...call, to: to.text })
  peer.send('ACK', { ...call, to: to.text, from: '<sip:x@127.0.0.1>;tag=other' })
  peer.send('ACK', { ...call, to: to.text, cseq: 7 })
  await quiet()
  t.notOk(trunk.types().includes('answered'))
  peer.send('ACK', { ...call, to: to.text })
  await trunk.event('answered')
})

t.test('if a request in a call is repeated within five seconds, its response is sent again', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const { to } = await talking(trunk, peer)
  const asked = peer.send('OPTIONS', { callId: 'call-1', to, cseq: 2 })
  await peer.response(200, 'OPTIONS')
  await trunk.clock.advance(4_900)
  peer.raw(asked)
  await peer.response(200, 'OPTIONS', 2)
  await trunk.clock.advance(100)
  peer.raw(asked)
  await peer.response(500, 'OPTIONS')
})

t.test("when the server's SIP endpoint closes, its calls are ended", async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  await talking(trunk, peer)
  t.same(trunk.called, ['sip_one'], 'the connection is noted to work')
  await trunk.line.close()
  await peer.request('BYE')
})

t.test('keys are sent over the trunk, and received keys become events', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const { ref } = await talking(trunk, peer)
  await trunk.line.sendDtmf(ref, '12#')
  t.same(trunk.rtps[0]?.digits, ['12#'])
  trunk.rtps[0]?.options.dtmf('5')
  t.match(await trunk.event('dtmf'), { digit: '5' })
})

t.test('OPTIONS from a configured trunk is answered, and unsupported SIP methods are refused', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  peer.send('OPTIONS', { callId: 'options' })
  await peer.response(200)
  peer.send('REGISTER', { callId: 'register' })
  const refused = await peer.response(405)
  t.ok(refused.headers.some(([name, value]) => name === 'allow' && value.includes('INVITE')))
})
