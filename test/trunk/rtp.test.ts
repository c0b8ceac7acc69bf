/** Tests a leg's audio over real sockets on this machine. Uses a test clock. */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { pcma, pcmu } from '../../audio/line-codec.ts'
import { writePacket } from '../../providers/trunk/rtp/packet.ts'
import { createRtpPorts } from '../../providers/trunk/rtp/ports.ts'
import { likenessOf } from '../audio/likeness.ts'
import { TestClock } from '../clock.ts'
import { RecordingSink } from '../session/media-harness.ts'
import { frameSamples, host, key, leg, quiet, signalingAddress, speech, voice } from './rtp-leg.ts'
import { openRtpPeer } from './rtp-peer.ts'

for (const [encoding, payloadType, codec] of [
  ['PCMU', 0, pcmu],
  ['PCMA', 8, pcma],
] as const)
  t.test(`speech is sent as ${encoding}, one packet every 20 ms`, async (t) => {
    const { far, sink, ticks } = await leg(t, { encoding, payloadType })
    for (let n = 0; n < 100; n++) sink.transport.frame(voice.subarray(n * frameSamples, (n + 1) * frameSamples))
    sink.transport.mark('1:2000')
    await ticks(100)
    t.same(sink.calls, [], 'the last frame is being played')
    await ticks(1)
    t.same(sink.calls, [['played', '1:2000']])
    t.equal(far.got.length, 101, 'one packet of each tick, the first frame 20 ms after it was given')
    const [first] = far.got
    t.ok(first?.hasMarker)
    for (const [n, packet] of far.got.entries()) {
      t.equal(packet.payloadType, payloadType)
      t.equal(packet.sequence, ((first?.sequence ?? 0) + n) & 0xffff)
      t.equal(packet.timestamp, ((first?.timestamp ?? 0) + n * frameSamples) >>> 0)
    }
    const received = new Int16Array(100 * frameSamples)
    for (const [n, { payload }] of far.got.slice(0, 100).entries())
      codec.decode(payload, payload.length, received.subarray(n * frameSamples))
    t.ok(likenessOf(voice.subarray(0, received.length), received) > 0.99)
  })

t.test('`clear` drops unsent audio, and reports how far the audio was played', async (t) => {
  const { far, sink, ticks } = await leg(t)
  const frame = new Int16Array(frameSamples).fill(8000)
  for (let n = 0; n < 10; n++) {
    sink.transport.frame(frame)
    if (n === 1) sink.transport.mark('1:40')
  }
  await ticks(5)
  sink.transport.clear()
  await ticks(1)
  t.same(sink.calls, [
    ['played', '1:40'],
    ['cleared', '1:40', 60],
  ])
  t.ok(
    far.got.at(-1)?.payload.every((byte) => byte === 0xff),
    'silence follows',
  )
})

t.test('received speech is played within 60 ms, also after lost and late packets', async (t) => {
  const { far, audible, send, ticks } = await leg(t)
  const order = Array.from({ length: 100 }, (_, n) => (n % 10 === 4 ? n + 1 : n % 10 === 5 ? n - 1 : n))
  for (const n of order) {
    if (n % 33 !== 32) await send(far.socket, speech(n))
    await ticks(1)
  }
  await ticks(5)
  const at = audible.findIndex((sample) => Math.abs(sample) > 8)
  const begins = voice.findIndex((sample) => Math.abs(sample) > 8)
  t.ok(at - begins <= 60 * 8, `${(at - begins) / 8} ms`)
  const received = Int16Array.from(audible)
  t.ok(likenessOf(voice.subarray(6 * frameSamples, 30 * frameSamples), received) > 0.7)
})

t.test('packets from another address, or from another port of the same address, are dropped', async (t) => {
  const { far, audible, send, ticks, keys } = await leg(t)
  const other = await openRtpPeer(t, '127.0.0.2')
  const neighbour = await openRtpPeer(t)
  for (let n = 20; n < 60; n++) {
    await send(other.socket, speech(n, { ssrc: 9 }))
    await ticks(1)
  }
  t.ok(
    audible.every((sample) => sample === 0),
    'another address',
  )
  await send(far.socket, speech(0, { payload: Buffer.alloc(frameSamples, 0xff) }))
  for (let n = 20; n < 60; n++) {
    await send(neighbour.socket, speech(n, { ssrc: 9 }))
    await send(neighbour.socket, writePacket({ ...key(5, n * frameSamples), ssrc: 9 }))
    await ticks(1)
  }
  t.ok(
    audible.every((sample) => sample === 0),
    'another port',
  )
  t.same([keys, other.got, neighbour.got], [[], [], []])
})

t.test(
  'if an SDP has an unreachable address, audio is sent and received at the source address of the SIP messages',
  async (t) => {
    const { far, opened, remote, audible, send, ticks } = await leg(t, {}, signalingAddress)
    const stranger = await openRtpPeer(t, '127.0.0.2')
    opened.start({ ...remote, address: '192.0.2.9' })
    await send(stranger.socket, speech(19, { ssrc: 9 }))
    for (let n = 20; n < 60; n++) {
      await send(far.socket, speech(n))
      await send(stranger.socket, speech(n, { ssrc: 9 }))
      await ticks(1)
    }
    t.ok(likenessOf(voice.subarray(24 * frameSamples, 50 * frameSamples), Int16Array.from(audible)) > 0.9)
    t.equal(far.got.length, 40, 'our packets go where its packets come from')
    t.same(stranger.got, [], 'nobody else is sent any')
  },
)

t.test('no audio goes to a private address of an SDP before a packet has come from there', async (t) => {
  const { far, opened, remote, clock, send, ticks } = await leg(
    t,
    {},
    '127.0.0.4',
    (address) => address !== '127.0.0.4',
  )
  const inner = await openRtpPeer(t, '127.0.0.4')
  const silent = async () => {
    for (let n = 0; n < 10; n++) await clock.advance(20)
    for (let n = 0; n < 50; n++) await turn()
  }
  await silent()
  opened.start({ ...remote, port: inner.port })
  await silent()
  t.same([far.got, inner.got], [[], []])
  await send(inner.socket, speech(0))
  await silent()
  t.equal(inner.got.length, 10, 'a phone of an own network talks')
  opened.start(remote)
  await silent()
  t.same([far.got.length, inner.got.length], [0, 10], 'another offer begins anew')
  await send(far.socket, speech(1))
  await ticks(1)
  t.equal(far.got.length, 1)
})

t.test("once audio comes from the address in the SDP, audio from the SIP peer's address is dropped", async (t) => {
  const { far, keys, send, ticks } = await leg(t)
  const proxy = await openRtpPeer(t, signalingAddress)
  await send(far.socket, speech(0))
  await send(proxy.socket, writePacket({ ...key(5, 8000), ssrc: 9 }))
  await send(far.socket, writePacket(key(6, 8000)))
  await ticks(1)
  t.same([keys, proxy.got], [['6'], []])
})

t.test('audio is sent to the port from which the other side sends', async (t) => {
  const { remote, opened, send, ticks, far } = await leg(t, { port: 9 })
  t.equal(remote.port, 9)
  await send(far.socket, speech(0))
  await ticks(1)
  t.equal(far.got.length, 1)
  opened.start({ ...remote, port: far.port, direction: 'sendonly' })
})

t.test('a key counts once, however many packets report it', async (t) => {
  const { far, keys, sink, send, ticks } = await leg(t)
  for (const digit of [1, 1, 11]) {
    const timestamp = 0xffff_ff00 + 4000 * keys.length
    for (let n = 1; n <= 7; n++) await send(far.socket, writePacket(key(digit, timestamp, n * 160)))
    await ticks(1)
  }
  await send(far.socket, writePacket(key(1, 0xffff_ff00, 1120)))
  await send(far.socket, writePacket(key(77, 100_000)))
  await send(far.socket, writePacket({ ...key(1, 200_000), payload: Buffer.of(1) }))
  t.same(keys, ['1', '1', '#'])
  t.same(sink.calls, [
    ['dtmf', '1'],
    ['dtmf', '1'],
    ['dtmf', '#'],
  ])
})

t.test('keys are sent with their duration, and each end is sent three times', async (t) => {
  const { far, opened, ticks } = await leg(t)
  opened.sendDtmf('5x#')
  await ticks(24)
  const events = far.got.filter(({ payloadType }) => payloadType === 101)
  const seen = events.map(({ payload }) => [payload[0], payload[1]! >> 7, payload.readUInt16BE(2)])
  const one = (code: number) =>
    [160, 320, 480, 640, 800, 800, 800].map((duration, n) => [code, n >= 4 ? 1 : 0, duration])
  t.same(seen, [...one(5), ...one(11)])
  t.equal(new Set(events.map(({ timestamp }) => timestamp)).size, 2)
  t.same(events.map(({ hasMarker }) => hasMarker).filter(Boolean).length, 2)
})

t.test('a call on hold is sent nothing, and the audio continues afterwards', async (t) => {
  const { clock, far, opened, remote, ticks } = await leg(t)
  await ticks(2)
  opened.start({ ...remote, direction: 'sendonly' })
  const { length } = far.got
  await clock.advance(200)
  for (let n = 0; n < 50; n++) await turn()
  t.equal(far.got.length, length)
  opened.start(remote)
  await ticks(1)
  t.equal(far.got.length, length + 1)
})

t.test('malformed RTP packets are ignored', async (t) => {
  const { far, audible, send, ticks } = await leg(t)
  let state = 5
  const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0)
  for (let n = 0; n < 200; n++) {
    const datagram = Buffer.from(Array.from({ length: random() % 60 }, () => random() >>> 24))
    if (n % 2 === 0 && datagram.length > 1) datagram[0] = 0x80 | (datagram[0]! & 0x3f)
    await send(far.socket, datagram)
    if (n % 10 === 0) await ticks(1)
  }
  const before = audible.length
  for (let n = 0; n < 60; n++) {
    await send(far.socket, speech(n, { ssrc: 12 }))
    await ticks(1)
  }
  t.ok(likenessOf(voice.subarray(3200, 6400), Int16Array.from(audible.slice(before))) > 0.9)
})

t.test('each leg gets a free even RTP port or is refused, and the port is free again after the call', async (t) => {
  const clock = new TestClock()
  const ports = createRtpPorts({ host, ports: { from: 42_501, to: 42_507 }, mayReach: () => true, clock, log: quiet })
  const sinks: RecordingSink[] = []
  const open = () =>
    ports.open({
      sampleRateHz: 8000,
      signalingAddress,
      dtmf: () => {},
      joined: (transport) => {
        const sink = new RecordingSink(transport)
        sinks.push(sink)
        return sink
      },
    })
  const legs = [await open(), await open(), await open()]
  t.same(
    legs.map(({ port }) => port),
    [42_502, 42_504, 42_506],
  )
  await t.rejects(open(), /in use/)
  legs[1]?.start({
    address: host,
    port: 9,
    encoding: 'PCMU',
    payloadType: 0,
    dtmfPayloadType: null,
    direction: 'sendrecv',
  })
  legs[1]?.close()
  legs[1]?.close()
  t.same(
    sinks.map(({ calls }) => calls),
    [[['gone']]],
  )
  const again = await open()
  t.equal(again.port, 42_504)
  for (const each of [...legs, again]) each.close()
  await clock.advance(40)
  t.equal(clock.timers, 0, 'the timer stops with the last leg')
})

t.test('every packet from the far end shows that the far end is present, but other packets do not', async (t) => {
  const { far, opened, remote, ticks, send } = await leg(t)
  t.equal(opened.quietMs, 0)
  await ticks(50)
  t.equal(opened.quietMs, 1_000)
  const stranger = await openRtpPeer(t, '127.0.0.9')
  await send(stranger.socket, speech(0))
  await send(far.socket, Buffer.from('no packet of RTP'))
  t.equal(opened.quietMs, 1_000)
  t.equal(opened.packets, 0)
  const comfortNoise = { payloadType: 13, payload: Buffer.of(70) }
  const key = { payloadType: 101, payload: Buffer.from([5, 0x80 | 10, 3, 0x20]) }
  for (const [n, packet] of [speech(0), speech(1, comfortNoise), speech(2, key), speech(3)].entries()) {
    await ticks(10)
    await send(far.socket, packet)
    t.equal(opened.quietMs, 0, `packet ${n}`)
    t.equal(opened.packets, n + 1)
  }
  await ticks(10)
  opened.start({ ...remote, direction: 'inactive' })
  t.equal(opened.quietMs, 200, 'a call that is held is quiet too')
})

t.test('very many packets from another address do not displace the speech of the call', async (t) => {
  const { far, audible, send, ticks } = await leg(t)
  const flood = await openRtpPeer(t, '127.0.0.2')
  for (let n = 0; n < 60; n++) {
    for (let more = 0; more < 25; more++) await send(flood.socket, speech(n, { ssrc: 9 }))
    await send(far.socket, speech(n))
    await ticks(1)
  }
  t.ok(audible.some((sample) => Math.abs(sample) > 1000))
})
