/** A far end that is gone without BYE, as after a power cut, and a far end that only sends no audio. */
import t, { type Test } from 'tap'
import type { LegEvent } from '../../domain/ports/phone-line.ts'
import { legId, media, openTrunk, outgoingTo, type Trunk, type TrunkSetup, toDial } from './setup.ts'
import { quiet, type SipPeer, sdp, sdpType, wanted } from './sip-peer.ts'

const { signal } = new AbortController()
const quietMs = 30_000
/** After this time an unanswered request has failed. */
const answerMs = 32_000

/** Makes an answered outbound call. */
async function talking(t: Test, setup: TrunkSetup = {}) {
  let port = 0
  const trunk = await openTrunk(t, { outgoing: () => [outgoingTo(port)], ...setup })
  const far = await trunk.peer()
  port = far.port
  const dialing = trunk.line.dial(toDial({ timeLimitS: 14_400 }), signal)
  const invite = await far.request('INVITE')
  far.respond(invite, 100)
  const ref = { legId, ...(await dialing) }
  far.respond(invite, 200, { headers: [sdpType], body: sdp() })
  await trunk.event('stream_started')
  return { trunk, far, invite, ref }
}

/** Lets time pass without a packet. */
async function isQuiet({ rtps, clock }: Trunk, ms: number): Promise<void> {
  for (const rtp of rtps) rtp.quietMs += ms
  await clock.advance(ms)
}

/** Returns the OPTIONS requests inside the call, because a trunk is also asked each minute outside calls. */
const questions = (far: SipPeer) => far.requests('OPTIONS').filter(({ to }) => to.tag !== null)
const question = (far: SipPeer, number = 1) => wanted(() => questions(far)[number - 1], `question ${number}`)

async function isGone(t: Test, trunk: Trunk, far: SipPeer): Promise<void> {
  t.match(await trunk.event('hangup'), { cause: 'far_end_gone', by: 'unknown', sipCode: null })
  await far.request('BYE')
  t.ok(trunk.rtps.every(({ isClosed }) => isClosed))
}

t.test('a far end that sends no packets and does not answer OPTIONS counts as gone', async (t) => {
  const { trunk, far, invite, ref } = await talking(t)
  await isQuiet(trunk, quietMs - 1)
  await quiet()
  t.same(questions(far), [])
  await isQuiet(trunk, 1)
  const options = await question(far)
  t.equal(options.callId, invite.callId)
  t.equal(options.to.tag, 'far')
  t.ok(options.cseq.number > invite.cseq.number)
  await isQuiet(trunk, answerMs - 1)
  t.ok(await trunk.line.isAlive(ref))
  await isQuiet(trunk, 1)
  await isGone(t, trunk, far)
  t.notOk(await trunk.line.isAlive(ref))
})

for (const code of [481, 408])
  t.test(`a far end that sends no packets and answers OPTIONS with ${code} counts as gone`, async (t) => {
    const { trunk, far } = await talking(t)
    await isQuiet(trunk, quietMs)
    far.respond(await question(far), code)
    await isGone(t, trunk, far)
  })

for (const code of [200, 404, 405, 486, 500, 501, 503])
  t.test(`a far end that sends no packets but answers OPTIONS with ${code} stays and gets OPTIONS again`, async (t) => {
    const { trunk, far } = await talking(t)
    for (const time of [1, 2, 3]) {
      await isQuiet(trunk, quietMs)
      far.respond(await question(far, time), code)
      await quiet()
    }
    t.notOk(trunk.types().includes('hangup'))
    t.same(far.requests('BYE'), [])
  })

t.test('a far end that has sent a provisional response to OPTIONS counts as present', async (t) => {
  const { trunk, far } = await talking(t)
  await isQuiet(trunk, quietMs)
  const options = await question(far)
  far.respond(options, 100)
  await quiet()
  t.notOk(trunk.types().includes('hangup'))
  far.respond(options, 200)
  await quiet()
  await isQuiet(trunk, quietMs)
  await question(far, 2)
})

t.test('a far end that sends packets gets no OPTIONS, and a packet counts as an answer to OPTIONS', async (t) => {
  const { trunk, far } = await talking(t)
  await trunk.clock.advance(10 * quietMs)
  await quiet()
  t.same(questions(far), [], 'packets come all the time')
  await isQuiet(trunk, quietMs)
  await question(far)
  await trunk.clock.advance(1_000)
  for (const rtp of trunk.rtps) {
    rtp.packets++
    rtp.quietMs = answerMs - 1_000
  }
  await trunk.clock.advance(answerMs)
  t.notOk(trunk.types().includes('hangup'), 'the answer was lost, and not the far end')
  t.same(far.requests('BYE'), [])
})

t.test('a far end that hangs up before it answers OPTIONS ends the call as hung up', async (t) => {
  const { trunk, far, invite } = await talking(t)
  await isQuiet(trunk, quietMs)
  await question(far)
  far.send('BYE', { callId: invite.callId, from: `${invite.to.text};tag=far`, to: invite.from.text, cseq: 1 })
  t.match(await trunk.event('hangup'), { cause: 'normal_clearing', by: 'callee' })
  await trunk.clock.advance(answerMs)
  t.equal(trunk.types().filter((type) => type === 'hangup').length, 1)
})

t.test('OPTIONS is sent to a caller over the trunk too, and to each of two connected legs', async (t) => {
  const { trunk, far, ref } = await talking(t)
  const caller = await trunk.peer()
  const sent = { callId: 'caller', uri: 'sip:+15550001111@127.0.0.1' }
  caller.send('INVITE', { ...sent, headers: [sdpType], body: sdp() })
  const isIncoming = (event: LegEvent) => event.type === 'initiated' && event.direction === 'incoming'
  const { carrierLegId } = await wanted(() => trunk.events.find(isIncoming), 'the call that comes in')
  const inbound = { legId: 'leg_caller', carrierLegId }
  await trunk.line.answer(inbound, media)
  const ok = await caller.response(200, 'INVITE')
  caller.send('ACK', { ...sent, to: ok.to.text })
  await far.request('ACK')
  await quiet()
  await trunk.line.bridge(inbound, ref)
  await isQuiet(trunk, quietMs)
  far.respond(await question(far), 200)
  caller.respond(await question(caller), 481)
  t.match(await trunk.event('hangup'), { cause: 'far_end_gone', carrierLegId })
  t.ok(await trunk.line.isAlive(ref), 'the other one stays')
})

t.test('the time without packets after which OPTIONS is sent is configurable', async (t) => {
  const { trunk, far } = await talking(t, { limits: { farEndQuietMs: 5_000 } })
  await isQuiet(trunk, 5_000)
  await question(far)
})
