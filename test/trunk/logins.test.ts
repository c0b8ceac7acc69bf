/**
 * Tests calls from unknown addresses: a login identifies the caller, and without a login a sender uses few resources.
 */
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import { type SipResponse, valueOf, writeMessage } from '../../providers/trunk/message.ts'
import { legId, media, openTrunk, type TrunkSetup } from './setup.ts'
import { quiet, sdp, sdpType, wanted } from './sip-peer.ts'

const invite = { callId: 'call-1', headers: [sdpType], body: sdp() }

const login: SipConnection = {
  id: 'sip_login',
  organizationId: 'org_login',
  outbound: null,
  inbound: { username: 'desk', password: 'open sesame' },
}
const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const nonceOf = ({ headers }: SipResponse) =>
  /nonce="([^"]+)"/.exec(valueOf(headers, 'www-authenticate') ?? '')?.[1] ?? ''

async function challenged(t: Test, setup: TrunkSetup = { known: [] }) {
  const trunk = await openTrunk(t, { logins: [login], ...setup })
  const peer = await trunk.peer()
  const long = `User-Agent: ${'phone '.repeat(40)}`
  peer.send('INVITE', { ...invite, headers: [sdpType, long], branch: 'z9hG4bK-first' })
  const challenge = await peer.response(401)
  const asked = {
    nonce: nonceOf(challenge),
    hash: md5,
    algorithm: 'MD5',
    nc: '00000001',
    uri: 'sip:+15550001111@127.0.0.1',
  }
  const authorization = (password: string, more: Partial<typeof asked> = {}) => {
    const { nonce, hash, algorithm, nc, uri } = { ...asked, ...more }
    const request = hash(`INVITE:${uri}`)
    const response = hash(`${hash(`desk:parley:${password}`)}:${nonce}:${nc}:abc:auth:${request}`)
    return `Authorization: Digest username="desk", realm="parley", nonce="${nonce}", uri="${uri}", response="${response}", algorithm=${algorithm}, qop=auth, nc=${nc}, cnonce="abc"`
  }
  return { trunk, peer, challenge, authorization }
}

t.test("a call that began with digest authentication can be ended only from its caller's address", async (t) => {
  const { trunk, peer, authorization } = await challenged(t)
  peer.send('INVITE', { ...invite, cseq: 2, headers: [sdpType, authorization('open sesame')] })
  const { carrierLegId } = await trunk.event('initiated')
  await trunk.line.answer({ legId, carrierLegId }, media)
  const ok = await peer.response(200, 'INVITE')
  const of = { callId: invite.callId, from: ok.from.text, to: ok.to.text }
  peer.send('ACK', { ...of, cseq: 2 })
  await trunk.event('stream_started')
  const stranger = await trunk.peer({ address: '127.0.0.2' })
  stranger.send('BYE', { ...of, cseq: 3 })
  await stranger.response(481, 'BYE')
  peer.send('BYE', { ...of, cseq: 4 })
  await peer.response(200, 'BYE')
})

t.test('a caller from an unknown address is accepted after digest authentication', async (t) => {
  const { trunk, peer, challenge, authorization } = await challenged(t)
  const algorithms = challenge.headers.filter(([name]) => name === 'www-authenticate').map(([, value]) => value)
  t.match(algorithms, [/algorithm=SHA-256/, /algorithm=MD5/])
  await trunk.clock.advance(40_000)
  await quiet()
  t.equal(peer.received.length, 1, 'the challenge is not repeated')
  const once = [sdpType, authorization('open sesame')]
  peer.send('INVITE', { ...invite, cseq: 2, headers: once })
  t.match(await trunk.event('initiated'), { connectionId: 'sip_login' })
  peer.send('INVITE', { ...invite, callId: 'copied', cseq: 3, headers: once })
  await peer.response(403)
  const again = authorization('open sesame', { hash: sha256, algorithm: 'SHA-256', nc: '00000002' })
  peer.send('INVITE', { ...invite, callId: 'second', cseq: 4, headers: [sdpType, again] })
  await wanted(() => trunk.events.length === 2, 'a second call')
  peer.send('INVITE', {
    ...invite,
    callId: 'wrong',
    cseq: 5,
    headers: [sdpType, authorization('guess', { nc: '00000003' })],
  })
  await peer.response(403, 'INVITE', 2)
  await trunk.clock.advance(300_000)
  const late = authorization('open sesame', { nc: '00000004' })
  peer.send('INVITE', { ...invite, callId: 'late', cseq: 6, headers: [sdpType, late] })
  const renewed = await peer.response(401, 'INVITE', 2)
  t.match(valueOf(renewed.headers, 'www-authenticate'), /stale=true/)
})

t.test('a login with a nonce that another address was given is challenged again', async (t) => {
  const { trunk, authorization } = await challenged(t)
  const other = await trunk.peer({ address: '127.0.0.2' })
  other.send('INVITE', { ...invite, callId: 'other', headers: [sdpType, authorization('open sesame')] })
  await other.response(401)
  t.same([trunk.types(), trunk.asked], [[], []], 'and no question to the store')
})

t.test("a login whose digest is for another number's URI is answered 400", async (t) => {
  const { trunk, peer, authorization } = await challenged(t)
  const uris = ['sip:+15550009999@127.0.0.1', 'sip:127.0.0.1', 'no address', '']
  for (const [at, uri] of uris.entries()) {
    const signed = authorization('open sesame', { uri, nc: `0000000${at + 1}` })
    peer.send('INVITE', { ...invite, callId: `other-${at}`, cseq: 2, headers: [sdpType, signed] })
    await peer.response(400, 'INVITE', at + 1)
  }
  t.same([trunk.types(), trunk.asked], [[], []], 'and no question to the store')
  // A proxy may have changed the host in the SIP address, or the form in which the number is written.
  const forms = ['sip:+15550001111@pbx.test:5070;transport=udp', 'tel:+15550001111', 'sip:%2B15550001111@127.0.0.1']
  for (const [at, uri] of forms.entries()) {
    const signed = authorization('open sesame', { uri, nc: `0000001${at}` })
    peer.send('INVITE', { ...invite, callId: `same-${at}`, cseq: 2, headers: [sdpType, signed] })
    await wanted(() => trunk.events.length === at + 1, `a call with ${uri}`)
  }
})

t.test("if a number needs digest authentication, calls from another organization's address need it too", async (t) => {
  const { trunk, peer, authorization } = await challenged(t, { wantsLogin: true })
  t.same(trunk.types(), [], 'no call before the login')
  peer.send('OPTIONS', { callId: 'options' })
  await peer.response(200)
  peer.send('INVITE', { ...invite, cseq: 2, headers: [sdpType, authorization('open sesame')] })
  t.match(await trunk.event('initiated'), { connectionId: 'sip_login' })
})

t.test('an unknown address gets only a challenge, which is not longer than its request', async (t) => {
  const trunk = await openTrunk(t, { known: [] })
  const peer = await trunk.peer()
  peer.send('OPTIONS', { callId: 'options' })
  peer.send('REGISTER', { callId: 'register' })
  peer.send('INVITE', { callId: 'x' })
  await quiet()
  t.same(peer.received, [])
  peer.send('INVITE', invite)
  const challenge = await peer.response(401)
  t.equal(challenge.headers.filter(([name]) => name === 'www-authenticate').length, 1, 'only the challenge that fits')
  t.same(trunk.types(), [])
})

t.test('requests for unknown calls use no memory, and no answer is longer than its request', async (t) => {
  const trunk = await openTrunk(t)
  const stranger = await trunk.peer()
  const sent = stranger.send('CANCEL', { callId: 'nobody' })
  const refused = await stranger.response(481)
  t.ok(writeMessage('SIP/2.0 481 -', refused.headers, '').length <= sent.length)
  // This count is higher than the number of transactions that are stored at once.
  for (let n = 0; n < 9_000; n++) {
    stranger.send('CANCEL', { callId: `flood-${n}` })
    if (n % 10 === 0) await turn()
  }
  await quiet()
  const peer = await trunk.peer()
  peer.send('OPTIONS', { callId: 'options' })
  await peer.response(200)
})

t.test("an unknown sender's credentials are looked up only if the sender's nonce is valid", async (t) => {
  const trunk = await openTrunk(t, { known: [], logins: [login] })
  const peer = await trunk.peer()
  const forged =
    'Authorization: Digest username="desk", realm="parley", nonce="old.forged", uri="sip:a", response="0", qop=auth, nc=00000001, cnonce="abc"'
  peer.send('INVITE', { ...invite, headers: [sdpType, forged, `Subject: ${'long '.repeat(40)}`] })
  const challenge = await peer.response(401)
  t.match(challenge.headers.find(([name]) => name === 'www-authenticate')?.[1], /stale=true/)
  t.same(trunk.asked, [], 'no question to the store')
})

t.test('after ten wrong logins a user name and an address get no answer for the rest of the minute', async (t) => {
  const { trunk, peer, authorization } = await challenged(t)
  let tries = 0
  const login = (password: string) => {
    const nc = String(++tries).padStart(8, '0')
    const headers = [sdpType, authorization(password, { nc })]
    peer.send('INVITE', { ...invite, callId: `try-${tries}`, cseq: 2, headers })
  }
  for (let n = 1; n <= 10; n++) {
    login('guess')
    await peer.response(403, 'INVITE', n)
  }
  login('open sesame')
  await quiet()
  t.equal(peer.responses(403).length, 10)
  t.same([trunk.types(), trunk.asked.length], [[], 10], 'the store is not asked again')
  await trunk.clock.advance(60_000)
  login('open sesame')
  t.match(await trunk.event('initiated'), { connectionId: 'sip_login' })
})

t.test('wrong logins from one address do not block the same user at another address', async (t) => {
  const { trunk, peer, authorization } = await challenged(t)
  for (let n = 1; n <= 11; n++) {
    const headers = [sdpType, authorization('guess', { nc: `${10_000_000 + n}` })]
    peer.send('INVITE', { ...invite, callId: `try-${n}`, cseq: 2, headers })
  }
  await peer.response(403, 'INVITE', 10)
  const other = await trunk.peer({ address: '127.0.0.2' })
  other.send('INVITE', { ...invite, callId: 'other', headers: [sdpType, `User-Agent: ${'phone '.repeat(40)}`] })
  const challenge = await other.response(401)
  const signed = authorization('open sesame', { nonce: nonceOf(challenge) })
  other.send('INVITE', { ...invite, callId: 'other', cseq: 2, headers: [sdpType, signed] })
  t.match(await trunk.event('initiated'), { connectionId: 'sip_login' })
})

t.test('wrong logins that arrive at once are counted one after the other', async (t) => {
  const { trunk, peer, authorization } = await challenged(t)
  for (let n = 1; n <= 20; n++) {
    const headers = [sdpType, authorization('guess', { nc: `${10_000_000 + n}` })]
    peer.send('INVITE', { ...invite, callId: `try-${n}`, cseq: 2, headers })
  }
  peer.send('INVITE', { ...invite, callId: 'right', cseq: 2, headers: [sdpType, authorization('open sesame')] })
  await quiet()
  t.equal(peer.responses(403).length, 10)
  t.same(trunk.types(), [])
})
