/**
 * The packet check agrees with a decoder: if the check accepts a packet, the decoder makes audio from the packet; if
 * the check refuses a packet, the decoder reports an error.
 */
import { OpusDecoder } from 'opus-decoder'
import t from 'tap'
import { isOpusPacket, opusPacketBytesMax, packetSamples } from '../../audio/opus.ts'
import { packetsOf } from '../speech/fixtures.ts'

const rateHz = 16_000

t.test('isOpusPacket accepts a random packet exactly if the decoder does', async (t) => {
  const silenced = console.error
  console.error = () => {}
  t.teardown(() => (console.error = silenced))
  const decoder = new OpusDecoder({ sampleRate: rateHz })
  t.teardown(() => decoder.free())
  await decoder.ready
  const counts = { true: 0, false: 0 }
  const wrong: string[] = []
  for (let i = 0; i < 20_000; i++) {
    const packet = randomPacket()
    const isPacket = isOpusPacket(packet)
    const { errors, samplesDecoded } = decoder.decodeFrame(packet)
    const samples = isPacket ? (packetSamples(packet) * rateHz) / 48_000 : 0
    if (isPacket !== (errors.length === 0) || samplesDecoded !== samples)
      wrong.push(Buffer.from(packet).toString('hex'))
    counts[`${isPacket}`] += 1
  }
  t.same(wrong.slice(0, 5), [])
  t.ok(Math.min(counts.true, counts.false) > 5000, JSON.stringify(counts))
})

t.test('isOpusPacket refuses a frame of more than 1275 bytes and a packet that is too long', async (t) => {
  t.notOk(isOpusPacket(new Uint8Array(0)))
  const longest = new Uint8Array(opusPacketBytesMax + 1)
  // The packet has 6 frames with 20 ms each, and 24 bytes of padding.
  longest.set([(9 << 3) | 3, 0x40 | 6, 24])
  t.ok(isOpusPacket(longest.subarray(0, 3 + 6 * 1275 + 24)))
  t.notOk(isOpusPacket(longest.subarray(0, 3 + 6 * 1275 + 25)), 'a frame has 1275 bytes at most')
  longest[2] = opusPacketBytesMax % 6
  t.notOk(isOpusPacket(longest))
  t.ok((await packetsOf('privacy-prompt')).every(isOpusPacket))
})

let seed = 12_345

function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

/** Makes a random packet: mostly short, and with small counts and sizes, because most other bytes are not a packet. */
function randomPacket(): Uint8Array {
  const bytesMax = [3, 20, 200, 2000, opusPacketBytesMax][random(5)]!
  const packet = Uint8Array.from({ length: 1 + random(bytesMax) }, () => random(256))
  if (random(3) === 0) packet[0] = packet[0]! | 3
  if (random(3) === 0 && packet.length > 1) packet[1] = (packet[1]! & 0xc0) | random(7)
  if (random(3) === 0) for (let at = 2; at < Math.min(8, packet.length); at++) packet[at] = random(6)
  return packet
}
