/** Signalling and audio of one trunk call together: the SDP of both sides directs the packets to the right ports. */
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { pcma, pcmu } from '../../audio/line-codec.ts'
import { writePacket } from '../../providers/trunk/rtp/packet.ts'
import { createRtpPorts } from '../../providers/trunk/rtp/ports.ts'
import { readSdp } from '../../providers/trunk/sdp.ts'
import { likenessOf } from '../audio/likeness.ts'
import { TestClock } from '../clock.ts'
import { readFixture } from '../speech/fixtures.ts'
import { arrived, openRtpPeer, type RtpPeer } from './rtp-peer.ts'
import { legId, media, openTrunkOn, outgoingTo, toDial } from './setup.ts'
import { sdp, sdpType, wanted } from './sip-peer.ts'

const quiet = { info() {}, warn() {}, error() {} }
const voice = new Int16Array(readFixture('please-try-call-later').slice(44).buffer)
const frameSamples = 160
const framesCount = 100
const codecs = { PCMU: pcmu, PCMA: pcma }

async function openWithAudio(t: Test, outgoing: () => ReturnType<typeof outgoingTo>[] = () => []) {
  const clock = new TestClock()
  const rtp = createRtpPorts({
    host: '127.0.0.1',
    ports: { from: 43_100, to: 43_198 },
    mayReach: () => true,
    clock,
    log: quiet,
  })
  return { clock, trunk: await openTrunkOn(t, clock, { rtp, outgoing }) }
}

type Talk = Awaited<ReturnType<typeof openWithAudio>> & { far: RtpPeer; body: string }

/** The conversation sends received audio back. Returns this audio while the other side speaks. */
async function echoed({ clock, trunk, far, body }: Talk): Promise<Int16Array> {
  const ours = readSdp(body)
  const sink = trunk.sinks[0]
  if (ours === null || sink === undefined) throw new Error('no audio was agreed')
  sink.onAudio = (samples) => sink.transport.frame(samples)
  const codec = codecs[ours.encoding]
  for (let n = 0; n < framesCount + 10; n++) {
    const payload = Buffer.alloc(frameSamples)
    codec.encode(voice.subarray(n * frameSamples, (n + 1) * frameSamples), payload)
    const [sequence, timestamp] = [n, n * frameSamples]
    const packet = { payloadType: ours.payloadType, hasMarker: n === 0, sequence, timestamp, ssrc: 7, payload }
    await new Promise((resolve) => far.socket.send(writePacket(packet), ours.port, ours.address, resolve))
    // The packet is in the socket's buffer. The event loop's next turns read it.
    for (let turns = 0; turns < 3; turns++) await turn()
    const before = far.got.length
    await clock.advance(20)
    await arrived(() => far.got.length > before)
  }
  const received = new Int16Array(far.got.length * frameSamples)
  for (const [n, { payload }] of far.got.entries())
    codec.decode(payload, payload.length, received.subarray(n * frameSamples))
  return received
}

const clip = voice.subarray(0, framesCount * frameSamples)

for (const [name, types, address] of [
  ['with PCMU', '0 101', '127.0.0.1'],
  ['with PCMA', '8 101', '127.0.0.1'],
  ['also behind NAT', '0 101', '192.0.2.9'],
] as const)
  t.test(`a caller over a trunk receives their own audio if the conversation echoes it, ${name}`, async (t) => {
    const { clock, trunk } = await openWithAudio(t)
    const [peer, far] = [await trunk.peer(), await openRtpPeer(t)]
    const call = { callId: 'call-1', headers: [sdpType], body: sdp({ port: far.port, types, address }) }
    peer.send('INVITE', call)
    const { carrierLegId } = await trunk.event('initiated')
    await trunk.line.answer({ legId, carrierLegId }, media)
    const ok = await peer.response(200, 'INVITE')
    peer.send('ACK', { callId: 'call-1', to: ok.to.text })
    await trunk.event('stream_started')
    t.ok(likenessOf(clip, await echoed({ clock, trunk, far, body: ok.body })) > 0.9)
    peer.send('BYE', { callId: 'call-1', to: ok.to.text, cseq: 2 })
    await trunk.event('hangup')
    await wanted(() => trunk.sinks[0]?.calls.some(([name]) => name === 'gone'), 'the end of the audio')
    const { length } = far.got
    await clock.advance(200)
    for (let turns = 0; turns < 50; turns++) await turn()
    t.equal(far.got.length, length, 'nothing is sent after the end')
  })

t.test('a person called over a trunk receives their own audio if the conversation echoes it', async (t) => {
  let port = 0
  const { clock, trunk } = await openWithAudio(t, () => [outgoingTo(port)])
  const [peer, far] = [await trunk.peer(), await openRtpPeer(t)]
  port = peer.port
  const dialing = trunk.line.dial(toDial(), new AbortController().signal)
  const invite = await peer.request('INVITE')
  peer.respond(invite, 180)
  await dialing
  peer.respond(invite, 200, { headers: [sdpType], body: sdp({ port: far.port }) })
  await trunk.event('stream_started')
  t.ok(likenessOf(clip, await echoed({ clock, trunk, far, body: invite.body })) > 0.9)
})
