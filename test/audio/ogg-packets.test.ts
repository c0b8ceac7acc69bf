/**
 * An Ogg file may arrive in chunks of any length. It is split into packets, and a decoder turns the packets into
 * speech.
 */
import { Readable } from 'node:stream'
import { OpusDecoder } from 'opus-decoder'
import t from 'tap'
import { opusPackets } from '../../audio/ogg-packets.ts'
import { readFixture } from '../speech/fixtures.ts'

function* cut(bytes: Uint8Array, length: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function packetsOf(bytes: Uint8Array, length: number): Promise<Buffer[]> {
  const packets: Buffer[] = []
  for await (const packet of opusPackets(Readable.from(cut(bytes, length)))) packets.push(Buffer.from(packet))
  return packets
}

const file = readFixture('privacy-prompt', 'opus')
/** The WAV recording has 8 kHz, 16 bits and a 44-byte header. */
const recordedMs = (readFixture('privacy-prompt').length - 44) / 16

t.test('the packets of an Ogg recording are the same for chunks of any size', async (t) => {
  const packets = await packetsOf(file, file.length)
  for (const length of [1, 7, 255, 1000]) t.same(await packetsOf(file, length), packets, `in chunks of ${length} bytes`)
  t.notOk(
    packets.some((packet) => packet.toString('latin1', 0, 4) === 'Opus'),
    'the headers are left out',
  )
  const decoder = new OpusDecoder()
  await decoder.ready
  const { samplesDecoded, errors } = decoder.decodeFrames(packets)
  decoder.free()
  t.same(errors, [])
  const decodedMs = samplesDecoded / 48
  t.ok(Math.abs(decodedMs - recordedMs) < 100, `${decodedMs} of ${recordedMs} ms`)

  const twice = await packetsOf(Buffer.concat([file, file]), 500)
  t.equal(twice.length, 2 * packets.length, 'a chained stream has headers too')
})

/**
 * Makes an Ogg page whose packets have these lengths. If the last length is -1, the last packet continues on the next
 * page.
 */
function page(lengths: readonly number[], flags = 0): Buffer {
  const isOpen = lengths.at(-1) === -1
  const whole = isOpen ? lengths.slice(0, -1) : lengths
  const sizes = whole.flatMap((length, i) => {
    const full = Array.from({ length: Math.floor(length / 255) }, () => 255)
    return isOpen && i === whole.length - 1 ? full : [...full, length % 255]
  })
  const head = Buffer.alloc(27)
  head.write('OggS')
  head[5] = flags
  head[26] = sizes.length
  return Buffer.concat([
    head,
    Buffer.from(sizes),
    Buffer.alloc(
      whole.reduce((sum, length) => sum + length, 0),
      1,
    ),
  ])
}

t.test('Ogg packets may continue on the next page', async (t) => {
  const headers = [page([19], 2), page([60])]
  const lengths = async (...pages: Buffer[]) =>
    (await packetsOf(Buffer.concat([...headers, ...pages]), 100)).map(({ length }) => length)
  t.same(await lengths(page([10, 300, 255, 20])), [10, 300, 255, 20])
  t.same(await lengths(page([10, 510, -1]), page([5, 30])), [10, 515, 30])
  t.same(await lengths(page([510, -1])), [], 'a packet that does not end')
})

t.test('data that is not Ogg is refused, and so is a packet that is too long', async (t) => {
  await t.rejects(packetsOf(Buffer.alloc(100, 7), 50), { name: 'AudioError', message: /not Ogg/ })
  const open = Array.from({ length: 3 }, () => page([255 * 255, -1]))
  await t.rejects(packetsOf(Buffer.concat([page([19], 2), page([60]), ...open]), 5000), {
    name: 'AudioError',
    message: /too long/,
  })
})
