/** If a process has died, the next process's SIP line hangs up its legs with the stored SIP dialogs. */
import t, { type Test } from 'tap'
import { valueOf, valuesOf } from '../../providers/trunk/message.ts'
import { keptDialogs, legId, media, openTrunk, outgoingTo, type Trunk, toDial } from './setup.ts'
import { quiet, type SipPeer, sdp, sdpType, wanted } from './sip-peer.ts'
import { listenOverTcp } from './tcp-listener.ts'

/** The SIP line of a process that becomes silent, and the SIP line of the next process on the same database. */
async function openTwo(t: Test, outgoing: Parameters<typeof openTrunk>[1] = {}) {
  const dialogs = keptDialogs()
  return [await openTrunk(t, { ...outgoing, dialogs }), await openTrunk(t, { ...outgoing, dialogs })] as const
}

const callId = 'left'

async function talk(trunk: Trunk, peer: SipPeer, headers: readonly string[] = []) {
  peer.send('INVITE', { callId, headers: [sdpType, ...headers], body: sdp() })
  const { carrierLegId } = await trunk.event('initiated')
  const ref = { legId, carrierLegId }
  await trunk.line.answer(ref, media)
  const ok = await peer.response(200, 'INVITE')
  peer.send('ACK', { callId, to: ok.to.text })
  await trunk.event('answered')
  return { ref, ok }
}

/** Acts as if the first process had died: from now on the peer sends to the next process's port. */
function dies(peer: SipPeer, next: Trunk): void {
  peer.toPort = next.line.port
}

t.test("after a restart a caller over UDP gets BYE in the caller's dialog, through the same proxies", async (t) => {
  const [dead, next] = await openTwo(t)
  const peer = await dead.peer()
  const routes = ['Record-Route: <sip:one.test;lr>', 'Record-Route: <sip:two.test;lr>']
  const { ref, ok } = await talk(dead, peer, routes)
  dies(peer, next)
  const ending = next.line.hangUp(ref)
  const bye = await peer.request('BYE')
  t.match(bye, { callId, uri: `sip:far@127.0.0.1:${peer.port}`, from: { tag: ok.to.tag }, to: { tag: 'far' } })
  t.same(valuesOf(bye.headers, 'route'), ['<sip:one.test;lr>', '<sip:two.test;lr>'])
  t.ok(bye.cseq.number > 1000, `CSeq ${bye.cseq.number}`)
  peer.respond(bye, 200)
  await ending
  t.same(next.logged, [])
})

t.test('after a restart the BYE goes to the Contact of the last re-INVITE', async (t) => {
  const [dead, next] = await openTwo(t)
  const peer = await dead.peer()
  const { ref, ok } = await talk(dead, peer)
  const moved = await dead.peer({ bindPort: 0, contactPort: 1234 })
  moved.send('INVITE', { callId, to: ok.to.text, cseq: 2, headers: [sdpType], body: sdp() })
  await moved.response(200, 'INVITE')
  void next.line.hangUp(ref)
  t.match(await peer.request('BYE'), { uri: 'sip:far@127.0.0.1:1234' })
})

t.test('after a restart a called party gets BYE with credentials, and a CSeq above all earlier numbers', async (t) => {
  let port = 0
  const login = { username: 'parley', password: 'secret' }
  const [dead, next] = await openTwo(t, { outgoing: () => [outgoingTo(port, login)] })
  const peer = await dead.peer()
  port = peer.port
  const { signal } = new AbortController()
  const dialing = dead.line.dial(toDial(), signal)
  const invite = await peer.request('INVITE')
  peer.respond(invite, 200, { headers: [sdpType], body: sdp() })
  const { carrierLegId } = await dialing
  const transferee = { legId, carrierLegId }
  const referring = dead.line.dial(toDial({ transferee }), signal)
  const refer = await peer.request('REFER')
  peer.respond(refer, 603)
  await t.rejects(referring)
  dies(peer, next)
  const ending = next.line.hangUp({ legId, carrierLegId })
  const first = await peer.request('BYE')
  t.ok(first.cseq.number > refer.cseq.number)
  peer.respond(first, 401, { headers: ['WWW-Authenticate: Digest realm="far", nonce="n", qop="auth"'] })
  const second = await peer.request('BYE', 2)
  t.ok(second.cseq.number > first.cseq.number)
  t.match(valueOf(second.headers, 'authorization'), /username="parley".*response="[0-9a-f]{32}"/)
  peer.respond(second, 200)
  await ending
})

/** Makes a phone ring, and lets the calling process die. */
async function ring(t: Test, dialogs = keptDialogs()) {
  let port = 0
  const setup = { outgoing: () => [outgoingTo(port)], dialogs }
  const [dead, next] = [await openTrunk(t, setup), await openTrunk(t, setup)]
  const peer = await dead.peer()
  port = peer.port
  const dialing = dead.line.dial(toDial(), new AbortController().signal)
  const invite = await peer.request('INVITE')
  peer.respond(invite, 180)
  const { carrierLegId } = await dialing
  return { dead, next, peer, invite, ref: { legId, carrierLegId } }
}

t.test('after a restart a ringing phone gets CANCEL for its INVITE', async (t) => {
  const { next, peer, invite, ref } = await ring(t)
  dies(peer, next)
  const ending = next.line.hangUp(ref)
  const cancel = await peer.request('CANCEL')
  t.match(cancel, { callId: invite.callId, uri: invite.uri, cseq: { number: invite.cseq.number } })
  for (const name of ['via', 'from', 'to'])
    t.same(valuesOf(cancel.headers, name), valuesOf(invite.headers, name), `${name} of the INVITE`)
  peer.respond(cancel, 200)
  peer.respond(invite, 487)
  await ending
  t.match(await peer.request('ACK'), { callId: invite.callId, via: { branch: invite.via.branch } })
  t.same(next.logged, [])
})

t.test('a phone that answers before the CANCEL arrives gets ACK and BYE', async (t) => {
  const { next, peer, invite, ref } = await ring(t)
  dies(peer, next)
  const ending = next.line.hangUp(ref)
  peer.respond(await peer.request('CANCEL'), 200)
  for (const count of [1, 2]) {
    peer.respond(invite, 200, { headers: [sdpType], body: sdp() })
    await peer.request('ACK', count)
  }
  const bye = await peer.request('BYE')
  t.match(bye, { callId: invite.callId, uri: `sip:far@127.0.0.1:${peer.port}`, to: { tag: 'far' } })
  t.ok(bye.cseq.number > invite.cseq.number)
  peer.respond(bye, 200)
  await ending
  await quiet()
  t.equal(peer.requests('BYE').length, 1)
  t.same(next.logged, [])
})

t.test('a CANCEL that is not answered is logged after 5 s', async (t) => {
  const { next, peer, ref } = await ring(t)
  const ending = next.line.hangUp(ref)
  await peer.request('CANCEL')
  await next.clock.advance(5_000)
  await ending
  t.same(next.logged, ['the CANCEL for a leg of a dead process was not answered'])
})

t.test("if the store is slow, the earlier INVITE does not overwrite a leg's stored dialog", async (t) => {
  const kept = keptDialogs()
  let write = () => {}
  const slow = new Promise<void>((resolve) => {
    write = resolve
  })
  let writes = 0
  const dialogs: typeof kept = {
    ...kept,
    async keep(leg, dialog) {
      if (++writes === 1) await slow
      return kept.keep(leg, dialog)
    },
  }
  const { dead, next, peer, invite, ref } = await ring(t, dialogs)
  peer.respond(invite, 200, { headers: [sdpType], body: sdp() })
  await dead.event('answered')
  write()
  await wanted(() => writes === 2, 'the second write')
  void next.line.hangUp(ref)
  await peer.request('BYE')
  t.same(peer.requests('CANCEL'), [])
})

t.test('a caller over TCP whose connection has died gets BYE over a new connection', async (t) => {
  const [dead, next] = await openTwo(t)
  const listener = await listenOverTcp(t)
  const peer = await dead.peer({ transport: 'tcp', contactPort: listener.port })
  const { ref } = await talk(dead, peer)
  peer.close()
  await next.line.hangUp(ref)
  t.match(listener.requests, [{ method: 'BYE', callId, uri: `sip:far@127.0.0.1:${listener.port}` }])
})

t.test('a BYE that is not answered is repeated, and logged after 5 s', async (t) => {
  const [dead, next] = await openTwo(t)
  const peer = await dead.peer()
  const { ref } = await talk(dead, peer)
  let isOver = false
  const ending = next.line.hangUp(ref).then(() => {
    isOver = true
  })
  await peer.request('BYE')
  await next.clock.advance(600)
  await peer.request('BYE', 2)
  t.notOk(isOver)
  await next.clock.advance(5_000)
  await ending
  t.same(next.logged, ['the BYE for a leg of a dead process was not answered'])
})

t.test('a second BYE for a leg has a higher CSeq than the first BYE', async (t) => {
  const [dead, next] = await openTwo(t)
  const peer = await dead.peer()
  const { ref } = await talk(dead, peer)
  const numbers: number[] = []
  dies(peer, next)
  for (const at of [1, 2]) {
    await next.clock.advance(at * 5_000)
    const ending = next.line.hangUp(ref)
    const bye = await wanted(() => peer.requests('BYE').find(({ cseq }) => !numbers.includes(cseq.number)), 'a BYE')
    numbers.push(bye.cseq.number)
    peer.respond(bye, 481)
    await ending
  }
  t.ok((numbers[1] ?? 0) > (numbers[0] ?? 0), numbers.join())
})

t.test('no SIP message is sent for a leg that has ended or has no dialog', async (t) => {
  const [dead, next] = await openTwo(t)
  const peer = await dead.peer()
  const { ref } = await talk(dead, peer)
  await dead.line.hangUp(ref)
  await peer.request('BYE')
  await dead.line.hangUp(ref)
  await next.line.hangUp({ legId, carrierLegId: 'unknown' })
  await quiet()
  t.equal(peer.requests('BYE').length, 1)
  t.same(next.logged, ['a leg over a trunk has no dialog that could be ended'])
})
