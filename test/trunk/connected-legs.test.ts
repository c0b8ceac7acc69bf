/** Two trunk legs connected by this server: each leg receives the other leg's audio and keys. */
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { keyTone } from '../../audio/key-tones.ts'
import { pcmu } from '../../audio/line-codec.ts'
import { writePacket } from '../../providers/trunk/rtp/packet.ts'
import { createRtpPorts } from '../../providers/trunk/rtp/ports.ts'
import { RelayQueue } from '../../providers/trunk/rtp/relay-queue.ts'
import { likenessOf } from '../audio/likeness.ts'
import { TestClock } from '../clock.ts'
import { RecordingSink } from '../session/media-harness.ts'
import { readFixture } from '../speech/fixtures.ts'
import { arrived, openRtpPeer } from './rtp-peer.ts'

const voice = new Int16Array(readFixture('please-try-call-later').slice(44).buffer)
const frameSamples = 160
const host = '127.0.0.1'
const remote = { address: host, encoding: 'PCMU', payloadType: 0, dtmfPayloadType: 101, direction: 'sendrecv' } as const

async function connected(t: Test, ofSecond: { dtmfPayloadType?: number | null } = {}) {
  const clock = new TestClock()
  const log = { info() {}, warn() {}, error() {} }
  const ports = createRtpPorts({ host, ports: { from: 42_600, to: 42_698 }, mayReach: () => true, clock, log })
  const sinks: RecordingSink[] = []
  const one = async (more = {}) => {
    const far = await openRtpPeer(t)
    const leg = await ports.open({
      sampleRateHz: 8000,
      signalingAddress: host,
      dtmf: () => {},
      joined: (transport) => {
        sinks.push(new RecordingSink(transport))
        return sinks.at(-1)!
      },
    })
    t.teardown(() => leg.close())
    leg.start({ ...remote, port: far.port, ...more })
    const say = (n: number, more = {}) => {
      const payload = Buffer.alloc(frameSamples)
      pcmu.encode(voice.subarray(n * frameSamples, (n + 1) * frameSamples), payload)
      const head = { payloadType: 0, hasMarker: n === 0, sequence: n, timestamp: n * frameSamples, ssrc: 7 }
      const packet = writePacket({ ...head, payload, ...more })
      return new Promise((resolve) => far.socket.send(packet, leg.port, host, resolve))
    }
    const received = () => {
      const all = new Int16Array(far.got.length * frameSamples)
      for (const [n, { payload }] of far.got.entries())
        pcmu.decode(payload, frameSamples, all.subarray(n * frameSamples))
      return all
    }
    return { clock, far, leg, say, received }
  }
  const [first, second] = [await one(), await one(ofSecond)]
  const tick = async () => {
    const before = [first.far.got.length, second.far.got.length]
    // The packets are in the sockets' buffers. The next turns of the event loop read them.
    for (let turns = 0; turns < 3; turns++) await turn()
    await clock.advance(20)
    await arrived(() => first.far.got.length > before[0]! && second.far.got.length > before[1]!)
  }
  first.leg.connect(second.leg)
  return { first, second, sinks, tick }
}

t.test("two connected legs receive each other's audio, and no audio of the conversation", async (t) => {
  const { first, second, sinks, tick } = await connected(t)
  for (let n = 0; n < 90; n++) {
    await first.say(n)
    if (n >= 30) await second.say(n)
    for (const { transport } of sinks) transport.frame(new Int16Array(frameSamples).fill(9000))
    await tick()
  }
  const [early, late] = [voice.subarray(1600, 9600), voice.subarray(6400, 12_800)]
  t.ok(likenessOf(early, second.received()) > 0.9, 'the second receives the first')
  t.ok(likenessOf(late, first.received()) > 0.9, 'the first receives the second')
  t.notOk(first.received().some((sample) => sample === 9000))
  const key = { payloadType: 101, payload: Buffer.from([5, 10, 0, 160]) }
  await first.say(91, key)
  for (let n = 0; n < 10; n++) await tick()
  t.ok(
    second.far.got.some(({ payloadType, payload }) => payloadType === 101 && payload[0] === 5),
    'keys go through',
  )
})

t.test('a key of one connected leg is a tone in the other leg if that leg accepts no telephone events', async (t) => {
  const { first, second, sinks, tick } = await connected(t, { dtmfPayloadType: null })
  await first.say(0, { payloadType: 101, payload: Buffer.from([5, 0x8a, 3, 0x20]) })
  await tick()
  first.leg.pressed('7', 'info')
  for (let n = 0; n < 24; n++) await tick()
  t.ok(second.far.got.every(({ payloadType }) => payloadType === 0))
  const [received, tones] = [second.received(), [keyTone('5')!, keyTone('7')!]]
  for (const tone of tones) t.ok(likenessOf(tone, received) > 0.99)
  t.same(sinks[0]?.calls, [
    ['dtmf', '5'],
    ['dtmf', '7'],
  ])
})

t.test("if one connected leg hangs up, the other leg gets silence, then the conversation's audio", async (t) => {
  const { first, second, sinks, tick } = await connected(t)
  const { clock } = first
  for (let n = 20; n < 40; n++) {
    await second.say(n)
    await tick()
  }
  second.leg.close()
  first.far.got.length = 0
  await clock.advance(200)
  await arrived(() => first.far.got.length >= 10)
  t.ok(first.received().every((sample) => sample === 0))
  sinks[0]?.transport.frame(new Int16Array(frameSamples).fill(9000))
  await clock.advance(60)
  await arrived(() => first.far.got.length >= 13)
  t.ok(first.received().some((sample) => sample > 8000))
})

t.test('a burst of delayed packets from a connected leg does not increase the delay', (t) => {
  const queue = new RelayQueue()
  const ramp = (level: number) => new Int16Array(4).fill(level)
  queue.push(ramp(100))
  queue.push(ramp(100))
  queue.push(ramp(500))
  t.same(queue.take(), ramp(100))
  t.same([...(queue.take() ?? [])], [100, 200, 300, 400], 'two are faded into one')
  t.equal(queue.take(), null)
  queue.push(ramp(1))
  queue.clear()
  t.equal(queue.take(), null)
  t.end()
})
