/** Small files with valid frames that hold far more audio than they declare. Only a hostile sender makes them. */
import { bytes, text, u16, u32 } from './build.ts'

/**
 * Makes FLAC at 16 kHz with 65,535 equal samples per frame. Every frame claims to be the first, so the file declares
 * only 4 s.
 */
export function expandingFlac(frames: number, channels: number): Uint8Array {
  const rateAndLayout = ((16_000 << 12) | ((channels - 1) << 9) | (15 << 4)) >>> 0
  const info = bytes(u16be(65_535), u16be(65_535), new Array<number>(6).fill(0), u16be(rateAndLayout >>> 16))
  const streamInfo = bytes(info, u16be(rateAndLayout & 0xffff), new Uint8Array(34 - info.length - 2))
  const head = [0xff, 0xf8, 0x75, ((channels - 1) << 4) | 8, 0, 0xff, 0xfe]
  const constants = new Uint8Array(3 * channels)
  const frame = bytes(head, [crc(head, 0x07, 8)], constants)
  const whole = bytes(frame, u16be(crc(frame, 0x8005, 16)))
  return bytes(text('fLaC'), [0x80, 0, 0, 34], streamInfo, repeated(whole, frames))
}

/** An Opus packet of two bytes that lasts 120 ms: two empty frames with 60 ms each. */
const longPacket = Uint8Array.of((11 << 3) | 3, 2)
const pagePackets = 255

/**
 * Makes Opus in Ogg with 30.6 s on each page. Every page but the first has the second page's position, so the file
 * declares only 1 s.
 */
export function expandingOgg(pages: number, channels: number): Uint8Array {
  const table = channels > 2 ? [1, 1, 0, ...new Array<number>(channels).fill(0)] : [0]
  const head = bytes(text('OpusHead'), [1, channels], u16(0), u32(48_000), u16(0), table)
  if (channels > 2) head[18] = 255
  const tags = bytes(text('OpusTags'), u32(1), [65], u32(0))
  const first = pagePackets * 5760
  const audio = Array.from({ length: pages }, (_, i) =>
    oggPage(i + 2, i === pages - 1 ? 4 : 0, i === 0 ? first : first + 48_000, new Array(pagePackets).fill(longPacket)),
  )
  return bytes(oggPage(0, 2, 0, [head]), oggPage(1, 0, 0, [tags]), ...audio)
}

function oggPage(sequence: number, flags: number, position: number, packets: readonly Uint8Array[]): Uint8Array {
  const head = [text('OggS'), [0, flags], u32(position), u32(0), u32(7), u32(sequence)]
  const rest = [[packets.length], packets.map((packet) => packet.length), ...packets]
  const sum = crc(bytes(...head, u32(0), ...rest), 0x04c11db7, 32)
  return bytes(...head, u32(sum), ...rest)
}

/**
 * Makes Opus in WebM, with nine bytes for each 120 ms. Unlike the FLAC and the Ogg file, this file declares all its
 * audio.
 */
export function expandingWebm(packets: number): Uint8Array {
  const audio = element([0xe1], element([0x9f], [1]))
  const track = element([0xae], bytes(element([0xd7], [1]), element([0x86], text('A_OPUS')), audio))
  const block = bytes([0xa3, 0x86, 0x81, 0, 0, 0], longPacket)
  const cluster = element([0x1f, 0x43, 0xb6, 0x75], repeated(block, packets))
  const segment = element([0x18, 0x53, 0x80, 0x67], bytes(element([0x16, 0x54, 0xae, 0x6b], track), cluster))
  return bytes(element([0x1a, 0x45, 0xdf, 0xa3], []), segment)
}

function element(id: readonly number[], content: Uint8Array | readonly number[]): Uint8Array {
  const size = content.length
  return bytes(id, [0x10 | (size >>> 24), (size >>> 16) & 0xff, (size >>> 8) & 0xff, size & 0xff], content)
}

function repeated(part: Uint8Array, times: number): Uint8Array {
  const whole = new Uint8Array(part.length * times)
  for (let i = 0; i < times; i++) whole.set(part, i * part.length)
  return whole
}

function u16be(value: number): Uint8Array {
  return Uint8Array.of((value >> 8) & 0xff, value & 0xff)
}

function crc(of: Uint8Array | readonly number[], polynomial: number, bits: 8 | 16 | 32): number {
  const top = 2 ** (bits - 1)
  let sum = 0
  for (const byte of of) {
    sum = (sum ^ (byte << (bits - 8))) >>> 0
    for (let i = 0; i < 8; i++) sum = (((sum * 2) % (top * 2)) ^ (sum >= top ? polynomial : 0)) >>> 0
  }
  return sum
}
