/** Two trunk legs connected by this server, and callers whose far ends call the recipient themselves (REFER). */
import t, { type Test } from 'tap'
import { type LegEvent, PhoneLineError } from '../../domain/ports/phone-line.ts'
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import { valueOf } from '../../providers/trunk/message.ts'
import { legId, media, openTrunk, outgoingTo, toDial } from './setup.ts'
import { quiet, type SipPeer, sdp, sdpType, wanted } from './sip-peer.ts'

const { signal } = new AbortController()
const secondId = 'leg_0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6d'
const recipientId = 'leg_0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6c'

type Login = { username?: string; password?: string }

/** Makes a caller in an answered trunk call. */
async function called(t: Test, login: Login = {}, more: { from?: string; outbound?: SipConnection['outbound'] } = {}) {
  let port = 0
  const known = [{ ...outgoingTo(0, login), inbound: { username: null, password: null } }]
  if (more.outbound !== undefined) known[0]!.outbound = more.outbound
  const trunk = await openTrunk(t, { known, outgoing: () => [outgoingTo(port)] })
  const far = await trunk.peer()
  port = far.port
  const { from = '<sip:+15557654321@pbx.test:5070>;tag=far' } = more
  const call = { callId: 'call-1', from }
  far.send('INVITE', { ...call, headers: [sdpType], body: sdp() })
  const { carrierLegId } = await trunk.event('initiated')
  const caller = { legId, carrierLegId }
  await trunk.line.answer(caller, media)
  const ok = await far.response(200, 'INVITE')
  far.send('ACK', { ...call, to: ok.to.text })
  await trunk.event('stream_started')
  let cseq = 1
  const inCall = (method: string, headers: string[] = [], body = '') =>
    far.send(method, { ...call, to: ok.to.text, cseq: ++cseq, headers, body })
  const notify = (line: string, event = 'refer') =>
    inCall('NOTIFY', [`Event: ${event}`, 'Content-Type: message/sipfrag'], `${line}\r\n`)
  const ofRecipient = (type: LegEvent['type'], id = recipientId) =>
    wanted(() => trunk.events.find((event) => event.legId === id && event.type === type), `event ${type}`)
  const refers = (more = {}) =>
    trunk.line.dial(toDial({ legId: recipientId, media: null, transferee: caller, ...more }), signal)
  return { trunk, far, caller, inCall, notify, ofRecipient, refers }
}

const answered = async (far: SipPeer, code: number) => {
  const refer = await far.request('REFER')
  far.respond(refer, code)
  return refer
}

t.test('REFER asks a far end to call a number, and our call ends once the new call is answered', async (t) => {
  const { trunk, far, caller, notify, ofRecipient, refers } = await called(t)
  const dialing = refers({ headers: { 'X-Order': '4711 a&b' } })
  const refer = await answered(far, 202)
  t.equal(valueOf(refer.headers, 'refer-to'), '<sip:+15557654321@pbx.test:5070?X-Order=4711%20a%26b>')
  t.match(valueOf(refer.headers, 'referred-by'), /^<sip:parley@127\.0\.0\.1/)
  const recipient = { legId: recipientId, ...(await dialing) }
  await t.rejects(trunk.line.bridge(caller, recipient), new PhoneLineError('refused'), 'nobody has answered')
  notify('SIP/2.0 100 Trying')
  notify('SIP/2.0 180 Ringing')
  await ofRecipient('ringing')
  notify('SIP/2.0 200 OK')
  await ofRecipient('answered')
  t.equal(far.responses(200, 'NOTIFY').length >= 2, true)
  await trunk.line.bridge(caller, recipient)
  await far.request('BYE')
  await trunk.event('hangup')
  const order = trunk.events.filter(({ type }) => type === 'bridged' || type === 'hangup')
  t.same(
    order.map(({ type, legId }) => [type, legId]),
    [
      ['bridged', recipientId],
      ['hangup', legId],
    ],
    'the calling code knows first that the two talk',
  )
  await trunk.line.hangUp(recipient)
  await ofRecipient('hangup')
})

for (const [name, from, outboundHost, target] of [
  ['withheld', '<sip:anonymous@anonymous.invalid>', 'sip.trunk.test', 'sip.trunk.test:5070'],
  [
    'withheld, over a trunk that takes no calls',
    '"Anonymous" <sip:anonymous@anonymous.invalid:5060>',
    null,
    '127.0.0.1',
  ],
  ['unknown', '<sip:unknown@unknown.invalid>', 'sip.trunk.test', 'sip.trunk.test:5070'],
  ['withheld without a domain', '<sip:anonymous@anonymous>', 'sip.trunk.test', 'sip.trunk.test:5070'],
  ['a telephone number', '<tel:+15557654321>', 'sip.trunk.test', 'sip.trunk.test:5070'],
  ['at an address that is none', '<sip:+15557654321@0.0.0.0>', '2001:db8::7', '[2001:db8::7]:5070'],
  ['at the machine of the far end', '<sip:+15557654321@localhost>', 'sip.trunk.test', 'sip.trunk.test:5070'],
  ['at its own host', '<sip:+15557654321@pbx.test>', 'sip.trunk.test', 'pbx.test'],
] as const)
  t.test(`a REFER sends a caller who is ${name} to ${target}`, async (t) => {
    const outbound = outboundHost === null ? null : outgoingTo(5070, { host: outboundHost }).outbound
    const { far, refers } = await called(t, {}, { from: `${from};tag=far`, outbound })
    const dialing = refers()
    const refer = await answered(far, 202)
    const host = outbound === null ? `${target}:${far.port}` : target
    t.equal(valueOf(refer.headers, 'refer-to'), `<sip:+15557654321@${host}>`)
    await dialing
  })

for (const [line, sipCode, cause] of [
  ['SIP/2.0 486 Busy Here', 486, 'user_busy'],
  ['SIP/2.0 503 Service Unavailable', 503, 'unspecified'],
] as const)
  t.test(`if the far end's NOTIFY reports ${line}, the caller stays with us`, async (t) => {
    const { trunk, far, caller, notify, ofRecipient, refers } = await called(t)
    const dialing = refers()
    await answered(far, 202)
    await dialing
    notify(line)
    t.match(await ofRecipient('hangup'), { sipCode, cause, by: 'callee' })
    t.ok(await trunk.line.isAlive(caller))
  })

t.test('if a far end refuses REFER or does not answer it, the transfer fails', async (t) => {
  const { trunk, far, caller, refers } = await called(t)
  const refused = refers()
  await answered(far, 603)
  await t.rejects(refused, new PhoneLineError('refused', { sipCode: 603 }))
  const silent = refers()
  await far.request('REFER', 2)
  const failed = t.rejects(silent, new PhoneLineError('timeout'))
  await trunk.clock.advance(33_000)
  await failed
  t.ok(await trunk.line.isAlive(caller))
  t.equal(trunk.line.name, 'trunk')
})

t.test("if a far end accepts REFER after the transfer was cancelled, only the caller's leg remains", async (t) => {
  const { trunk, far, caller, notify, ofRecipient } = await called(t)
  const abort = new AbortController()
  const wanted = toDial({ legId: recipientId, media: null, transferee: caller })
  const dialing = trunk.line.dial(wanted, abort.signal).catch(() => null)
  const refer = await far.request('REFER')
  abort.abort()
  t.match(await ofRecipient('hangup'), { cause: 'originator_cancel', by: 'caller' })
  far.respond(refer, 202)
  notify('SIP/2.0 180 Ringing')
  await far.response(200, 'NOTIFY')
  await dialing
  t.notOk(trunk.types().includes('ringing'))
  t.ok(await trunk.line.isAlive(caller))
})

/** Lets the far end accept REFER, report that a person's phone rings, and hang up. */
async function left(t: Test) {
  const parts = await called(t)
  const dialing = parts.refers()
  await answered(parts.far, 202)
  const recipient = { legId: recipientId, ...(await dialing) }
  parts.notify('SIP/2.0 180 Ringing')
  await parts.ofRecipient('ringing')
  parts.inCall('BYE')
  await parts.far.response(200, 'BYE')
  return { ...parts, recipient, endsOf: () => parts.trunk.types().filter((type) => type === 'hangup').length }
}

t.test('if a far end accepts REFER and hangs up without a final NOTIFY, the transfer has succeeded', async (t) => {
  const { trunk, far, caller, recipient, ofRecipient, endsOf } = await left(t)
  await trunk.clock.advance(1_999)
  t.equal(endsOf(), 0, 'the last news may still come')
  await trunk.clock.advance(1)
  await ofRecipient('answered')
  await trunk.line.bridge(caller, recipient)
  t.match(await trunk.event('hangup'), { legId, by: 'caller' })
  t.ok(trunk.types().indexOf('bridged') < trunk.types().indexOf('hangup'))
  await quiet()
  t.same(far.requests('BYE'), [], 'the other side has left already')
})

t.test('a NOTIFY from a far end that has already hung up still decides the transfer', async (t) => {
  const done = await left(t)
  done.notify('SIP/2.0 200 OK')
  await done.ofRecipient('answered')
  await done.trunk.line.bridge(done.caller, done.recipient)
  await done.trunk.event('hangup')
  const failed = await left(t)
  failed.notify('SIP/2.0 486 Busy Here')
  t.match(await failed.ofRecipient('hangup'), { sipCode: 486, cause: 'user_busy' })
  await wanted(() => failed.endsOf() === 2, 'the end of the caller')
  t.notOk(failed.trunk.types().includes('bridged'))
})

t.test("if no process handles a transfer's result, a far end that hung up counts as gone after 7 s", async (t) => {
  const { trunk, ofRecipient, endsOf } = await left(t)
  await trunk.clock.advance(2_000)
  await ofRecipient('answered')
  await trunk.clock.advance(4_999)
  t.equal(endsOf(), 0)
  await trunk.clock.advance(1)
  await trunk.event('hangup')
})

t.test("if the caller hangs up before REFER is answered, the hang-up counts as the caller's", async (t) => {
  const { trunk, far, inCall, refers } = await called(t)
  void refers().catch(() => {})
  await far.request('REFER')
  inCall('BYE')
  t.match(await trunk.event('hangup'), { legId, by: 'caller' })
})

for (const [code, asks, answers] of [
  [401, 'WWW-Authenticate', 'authorization'],
  [407, 'Proxy-Authenticate', 'proxy-authorization'],
] as const)
  t.test(`a trunk that challenges with ${code} gets the credentials in REFER and in BYE`, async (t) => {
    const { trunk, far, caller, refers } = await called(t, { username: 'desk', password: 'open sesame' })
    const challenge = { headers: [`${asks}: Digest realm="trunk", nonce="n1", algorithm=MD5, qop="auth"`] }
    const dialing = refers()
    for (const [method, work] of [
      ['REFER', () => dialing],
      ['BYE', () => trunk.line.hangUp(caller)],
    ] as const) {
      const sent = work()
      const first = await far.request(method)
      t.equal(valueOf(first.headers, answers), null)
      far.respond(first, code, challenge)
      const second = await far.request(method, 2)
      t.ok(second.cseq.number > first.cseq.number)
      t.match(valueOf(second.headers, answers), /^Digest username="desk", realm="trunk", nonce="n1", .*qop=auth/)
      if (method === 'REFER') t.ok(valueOf(second.headers, 'refer-to'))
      far.respond(second, method === 'REFER' ? 202 : 200)
      await sent
    }
  })

/** Starts two blind transfers: the first was cancelled, and its call may still ring. */
async function referredTwice(t: Test) {
  const parts = await called(t)
  const first = parts.refers()
  const { cseq: older } = await answered(parts.far, 202)
  await parts.trunk.line.hangUp({ legId: recipientId, ...(await first) })
  const second = parts.refers({ legId: secondId })
  const refer = await parts.far.request('REFER', 2)
  parts.far.respond(refer, 202)
  const recipient = { legId: secondId, ...(await second) }
  return { ...parts, recipient, older: older.number, newer: refer.cseq.number }
}

t.test('a NOTIFY of a cancelled transfer does not count for the next transfer', async (t) => {
  const { trunk, far, notify, ofRecipient, recipient, older, newer } = await referredTwice(t)
  notify('SIP/2.0 180 Ringing', `refer;id=${newer}`)
  await ofRecipient('ringing', secondId)
  notify('SIP/2.0 487 Request Terminated', `refer;id=${older}`)
  notify('SIP/2.0 486 Busy Here', `refer; id = ${older}`)
  notify('SIP/2.0 486 Busy Here', 'refer;id=4711')
  await far.response(481, 'NOTIFY')
  t.ok(await trunk.line.isAlive(recipient), 'the second one goes on')
  notify('SIP/2.0 200 OK', `refer;id=${newer}`)
  await ofRecipient('answered', secondId)
})

t.test('a NOTIFY without an id belongs to the first transfer until that transfer is over', async (t) => {
  const { trunk, far, notify, ofRecipient, recipient } = await referredTwice(t)
  notify('SIP/2.0 487 Request Terminated')
  await far.response(200, 'NOTIFY')
  t.ok(await trunk.line.isAlive(recipient))
  notify('SIP/2.0 486 Busy Here')
  t.match(await ofRecipient('hangup', secondId), { sipCode: 486 })
})

t.test('a NOTIFY for a transfer that was not requested is refused', async (t) => {
  const { trunk, far, notify, inCall, refers } = await called(t)
  notify('SIP/2.0 200 OK')
  await far.response(481, 'NOTIFY')
  void refers().catch(() => {})
  await answered(far, 202)
  inCall('NOTIFY', ['Event: presence'], 'SIP/2.0 200 OK\r\n')
  await far.response(481, 'NOTIFY', 2)
  inCall('NOTIFY', ['Event: refer'], 'no answer\r\n')
  await far.response(200, 'NOTIFY')
  await quiet()
  t.notOk(trunk.types().includes('bridged'))
  t.equal(trunk.types().filter((type) => type === 'answered').length, 1, 'the one of the caller')
})

t.test('if one of two connected legs is hung up, the other leg stays', async (t) => {
  const { trunk, far, caller, inCall } = await called(t)
  const dialing = trunk.line.dial(toDial({ legId: recipientId }), signal)
  const invite = await far.request('INVITE')
  far.respond(invite, 180)
  const recipient = { legId: recipientId, ...(await dialing) }
  far.respond(invite, 200, { headers: [sdpType], body: sdp() })
  await wanted(() => trunk.types().filter((type) => type === 'stream_started').length === 2, 'the second stream')
  await trunk.line.bridge(caller, recipient)
  await wanted(() => trunk.types().filter((type) => type === 'bridged').length === 2, 'both legs')
  t.same(trunk.rtps[0]?.connected, trunk.rtps[1])
  await trunk.line.hangUp(recipient)
  await trunk.event('hangup')
  t.ok(await trunk.line.isAlive(caller))
  const gone = new PhoneLineError('refused', { isGone: true })
  await t.rejects(trunk.line.bridge(caller, recipient), gone)
  inCall('BYE')
})
