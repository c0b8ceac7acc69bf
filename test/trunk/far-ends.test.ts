/**
 * Tests far ends that change their format, move without notice, or name a host: their audio is accepted, and audio is
 * sent to them.
 */
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { pcma } from '../../audio/line-codec.ts'
import { type RtpPacket, writePacket } from '../../providers/trunk/rtp/packet.ts'
import type { RtpRemote } from '../../providers/trunk/rtp-ports.ts'
import { readAnswer, readSdp } from '../../providers/trunk/sdp.ts'
import { likenessOf } from '../audio/likeness.ts'
import { frameSamples, host, key, leg, signalingAddress, speech, voice } from './rtp-leg.ts'
import { arrived, openRtpPeer, type RtpPeer } from './rtp-peer.ts'
import { sdp } from './sip-peer.ts'

type Leg = Awaited<ReturnType<typeof leg>>
type Talk = { from?: RtpPeer; ssrc?: number; packet?: (n: number) => Buffer }

/** Lets the other side send these voice frames, one each 20 ms. */
async function says(
  { far, send, ticks }: Leg,
  from: number,
  to: number,
  { from: peer = far, ssrc = 7, packet }: Talk = {},
) {
  for (let n = from; n < to; n++) {
    await send(peer.socket, packet?.(n) ?? speech(n, { ssrc }))
    await ticks(1)
  }
}

/** Lets time pass in which the other side sends no packet. */
async function silence({ clock }: Leg, ms: number) {
  await clock.advance(ms)
  for (let n = 0; n < 20; n++) await turn()
}

const isReceived = ({ audible }: Leg, from: number, to: number) =>
  likenessOf(voice.subarray(from * frameSamples, to * frameSamples), Int16Array.from(audible)) > 0.9

const alaw = (n: number, more: Partial<RtpPacket> = {}) => {
  const payload = Buffer.alloc(frameSamples)
  pcma.encode(voice.subarray(n * frameSamples, (n + 1) * frameSamples), payload)
  return speech(n, { payloadType: 8, payload, ...more })
}

/** Opens a leg, and gives it an SDP answer to our offer. */
async function answered(t: Test, types: string, more: string[] = []): Promise<Leg> {
  const opened = await leg(t)
  const remote = readAnswer(sdp({ port: opened.far.port, types, more }))
  if (remote === null) throw new Error('no audio')
  opened.opened.start(remote)
  return opened
}

t.test('each RTP format of the SDP answer is accepted, and may change during the call', async (t) => {
  const call = await answered(t, '0 8 101')
  await says(call, 0, 30, { packet: alaw })
  await says(call, 30, 60)
  await says(call, 60, 90, { packet: alaw })
  t.ok(isReceived(call, 10, 80))
  t.ok(
    call.far.got.every(({ payloadType }) => payloadType === 0),
    'it is sent the first one',
  )
})

t.test("telephone events are accepted under the far end's payload type and under ours", async (t) => {
  const call = await answered(t, '0 96', ['a=rtpmap:96 telephone-event/8000/1'])
  await call.send(call.far.socket, writePacket({ ...key(4, 8_000), payloadType: 96 }))
  await call.send(call.far.socket, writePacket(key(2, 16_000)))
  await call.send(call.far.socket, writePacket({ ...key(7, 24_000), payloadType: 97 }))
  t.same(call.keys, ['4', '2'])
  call.opened.sendDtmf('5')
  await call.ticks(3)
  t.equal(call.far.got.filter(({ payloadType }) => payloadType === 96).length, 3, 'it is sent its own one')
})

t.test('a caller who offers two audio formats may send audio in both formats', async (t) => {
  const call = await leg(t)
  call.opened.start(readSdp(sdp({ port: call.far.port, types: '8 0 101' }))!)
  await says(call, 0, 20, { packet: alaw })
  await says(call, 20, 60)
  t.ok(isReceived(call, 8, 50))
})

t.test('late RTP packets in the previous format are accepted after another SDP answer', async (t) => {
  const call = await answered(t, '8 101')
  call.opened.start(readAnswer(sdp({ port: call.far.port, types: '0 101' }))!)
  await says(call, 0, 20, { packet: alaw })
  await says(call, 20, 60)
  t.ok(isReceived(call, 8, 50))
})

t.test('RTP in a format that is in no SDP is dropped', async (t) => {
  const call = await answered(t, '0 101')
  await says(call, 0, 40, { packet: (n) => speech(n, { payloadType: 3 }) })
  t.ok(call.audible.every((sample) => sample === 0))
})

for (const [name, to, ssrc, waitMs, isLearned] of [
  ['the port', host, 7, 1_000, true],
  ['the port too soon', host, 7, 940, false],
  ['to the address of the messages', signalingAddress, 7, 1_000, true],
  ['to a stranger', '127.0.0.2', 7, 60_000, false],
  ['the port with another SSRC', host, 9, 1_000, true],
  ['the port with another SSRC too soon', host, 9, 940, false],
  ['to the address of the messages with another SSRC', signalingAddress, 9, 9_900, false],
  ['to the address of the messages with another SSRC, long after', signalingAddress, 9, 10_000, true],
] as const)
  t.test(`a far end changes ${name}: its packets are ${isLearned ? 'accepted' : 'dropped'}`, async (t) => {
    const call = await leg(t)
    const moved = await openRtpPeer(t, to)
    await says(call, 0, 30)
    await silence(call, waitMs - 20)
    const { length } = call.far.got
    await says(call, 30, 32, { from: moved, ssrc })
    t.equal(moved.got.length > 0, isLearned)
    t.equal(call.far.got.length === length, isLearned, 'the old port is sent no more')
    if (!isLearned) return
    await call.send(moved.socket, writePacket({ ...key(5, 40_000), ssrc }))
    t.same(call.keys, ['5'])
  })

t.test('after a far end has moved to another port, its speech is received without a gap', async (t) => {
  const call = await leg(t)
  const moved = await openRtpPeer(t)
  await says(call, 0, 20)
  await silence(call, 1_200)
  call.audible.length = 0
  for (let n = 20; n < 100; n++) {
    await call.send(moved.socket, speech(n, { timestamp: (n + 60) * frameSamples }))
    await call.clock.advance(20)
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  t.ok(isReceived(call, 30, 90))
  await call.send(call.far.socket, writePacket(key(5, 80_000)))
  t.same(call.keys, [], 'the old port is another sender now')
})

t.test('if the old source keeps sending, a second stream with the same SSRC does not replace it', async (t) => {
  const call = await leg(t)
  const second = await openRtpPeer(t)
  await says(call, 0, 1)
  for (let n = 1; n < 60; n++) {
    await call.send(second.socket, speech(n, { payload: Buffer.alloc(frameSamples, 0xff) }))
    await says(call, n, n + 1)
  }
  t.ok(isReceived(call, 10, 50))
  t.same(second.got, [])
})

const named: Partial<RtpRemote> = { address: 'media.pbx.example' }

t.test('if an SDP has a host name, audio goes to the source address of the SIP messages', async (t) => {
  const call = await leg(t, {}, signalingAddress, () => false)
  call.opened.start({ ...call.remote, ...named })
  await call.ticks(5)
  t.equal(call.far.got.length, 5, 'at the port of its SDP')
  const other = await openRtpPeer(t, signalingAddress)
  await call.send(other.socket, speech(0))
  await call.clock.advance(60)
  await silence(call, 0)
  t.ok(other.got.length >= 3, 'and then where its packets come from')
  t.equal(call.far.got.length, 5)
})

t.test('if an SDP has a host name, audio from the far end is accepted, and other audio is not', async (t) => {
  const call = await leg(t, {}, signalingAddress)
  call.opened.start({ ...call.remote, ...named })
  const stranger = await openRtpPeer(t, '127.0.0.2')
  await call.send(stranger.socket, writePacket({ ...key(9, 8_000), ssrc: 9 }))
  await says(call, 0, 40)
  t.ok(isReceived(call, 8, 30))
  t.same(call.keys, [])
})

for (const [name, address, ssrc] of [
  ['to another port', host, 7],
  ['to another port with another SSRC', host, 9],
  ['to the address of its messages', signalingAddress, 7],
  ['to another address with another SSRC', '127.0.0.4', 9],
] as const)
  t.test(`a far end moves by a new SDP ${name}, even if late packets come from the old port`, async (t) => {
    const call = await leg(t)
    const moved = await openRtpPeer(t, address)
    await says(call, 0, 20)
    call.opened.start({ ...call.remote, address, port: moved.port })
    const { length } = call.far.got
    for (let n = 20; n < 25; n++) {
      await call.send(call.far.socket, speech(n))
      await call.clock.advance(20)
      await arrived(() => moved.got.length > n - 20)
    }
    t.same([call.far.got.length, moved.got.length], [length, 5], 'it is sent audio at the new one at once')
    call.audible.length = 0
    for (let n = 25; n < 60; n++) {
      await call.send(moved.socket, speech(n, { ssrc }))
      await call.clock.advance(20)
      await arrived(() => moved.got.length > n - 20)
    }
    t.ok(isReceived(call, 32, 52), 'and is heard from its first packet')
    t.equal(call.far.got.length, length)
  })

t.test('after a new SDP packets from its port are accepted, even if another port has sent first', async (t) => {
  const call = await leg(t)
  const [other, moved] = [await openRtpPeer(t), await openRtpPeer(t)]
  await says(call, 0, 20)
  call.opened.start({ ...call.remote, port: moved.port })
  await call.send(other.socket, speech(20, { ssrc: 9 }))
  await call.send(moved.socket, writePacket({ ...key(5, 40_000), ssrc: 11 }))
  await call.send(other.socket, writePacket({ ...key(6, 48_000), ssrc: 9 }))
  t.same(call.keys, ['5'])
})

t.test('a far end may move its audio back to the first port by a third SDP', async (t) => {
  const call = await leg(t)
  const moved = await openRtpPeer(t)
  await says(call, 0, 20)
  call.opened.start({ ...call.remote, port: moved.port })
  await call.send(moved.socket, speech(20))
  call.opened.start(call.remote)
  await call.send(moved.socket, writePacket(key(6, 40_000)))
  await call.send(call.far.socket, writePacket(key(5, 48_000)))
  t.same(call.keys, ['5'])
})

t.test('if a new SDP names another port, packets from the old port are accepted again after a second', async (t) => {
  const call = await leg(t)
  await says(call, 0, 20)
  await silence(call, 5_000)
  call.opened.start({ ...call.remote, port: 9 })
  const pressedAfter = async (ms: number, digit: number) => {
    await silence(call, ms)
    await call.send(call.far.socket, writePacket(key(digit, 40_000 + 8 * ms)))
  }
  await pressedAfter(20, 4)
  await pressedAfter(960, 5)
  t.same(call.keys, [], 'also after a long silence')
  await pressedAfter(20, 6)
  t.same(call.keys, ['6'])
})

t.test(
  'if a far end moves before it has sent RTP, its first RTP packet from the new port sets its address',
  async (t) => {
    const call = await leg(t)
    const moved = await openRtpPeer(t)
    call.opened.start({ ...call.remote, port: moved.port })
    await call.send(call.far.socket, speech(0))
    await call.send(moved.socket, speech(1))
    const { length } = call.far.got
    await call.clock.advance(60)
    await arrived(() => moved.got.length >= 3)
    t.same([call.far.got.length, moved.got.length], [length, 3])
  },
)
