/**
 * An Opus packet's framing (RFC 6716, 3): its duration, and whether a decoder can parse it. The first byte is the table
 * of contents. Four layouts can follow it:
 *
 *   0  │ frame                                       1  │ frame │ frame, of equal size
 *   2  │ size │ frame │ frame                        3  │ count, flags │ padding size │ sizes │ frames │ padding
 */

/** Opus counts time at 48 kHz, even if the audio was encoded from another rate. */
export const opusRateHz = 48_000 satisfies OpusRateHz
/** Every decoder can emit these rates. A packet has the same duration at each rate. */
export const opusRatesHz = [8000, 12_000, 16_000, 24_000, 48_000] as const
export type OpusRateHz = (typeof opusRatesHz)[number]
const frameBytesMax = 1275
/**
 * The maximum number of bytes in a packet: 512 kbit/s for 120 ms. Encoders reach 510 kbit/s at most, and our decoder's
 * buffer has exactly this size.
 */
export const opusPacketBytesMax = 7680
/** The longest packet in samples: 120 ms at 48 kHz. */
const packetSamplesMax = 5760

/** Returns the packet's length in samples at 48 kHz. Needs only its first two bytes. */
export function packetSamples(packet: Uint8Array): number {
  return packet.length === 0 ? 0 : samplesOfHead(packet[0]!, packet[1] ?? 0)
}

/** Returns the same as `packetSamples`, from a packet's first two bytes. */
export function samplesOfHead(toc: number, count: number): number {
  const code = toc & 3
  return (code === 3 ? count & 63 : code === 0 ? 1 : 2) * frameSamples(toc >> 3)
}

function frameSamples(config: number): number {
  if (config < 12) return [480, 960, 1920, 2880][config & 3] ?? 0
  if (config < 16) return config & 1 ? 960 : 480
  return 120 << (config & 3)
}

/**
 * Returns true if the bytes are one packet with at most `opusPacketBytesMax` (3.4). A decoder accepts every such
 * packet, and no other bytes.
 */
export function isOpusPacket(packet: Uint8Array): boolean {
  const { length } = packet
  if (length === 0 || length > opusPacketBytesMax) return false
  const code = packet[0]! & 3
  if (code === 0) return length - 1 <= frameBytesMax
  if (code === 1) return length % 2 === 1 && (length - 1) / 2 <= frameBytesMax
  return code === 2 ? areTwoFrames(packet) : areManyFrames(packet)
}

function areTwoFrames(packet: Uint8Array): boolean {
  const size = readSize(packet, 1)
  if (size === null) return false
  const second = packet.length - 1 - size.bytes - size.value
  return second >= 0 && second <= frameBytesMax
}

function areManyFrames(packet: Uint8Array): boolean {
  if (packet.length < 2) return false
  const flags = packet[1]!
  const frames = flags & 63
  const samples = packetSamples(packet)
  if (frames === 0 || samples > packetSamplesMax) return false
  const padding = (flags & 0x40) === 0 ? { at: 2, bytes: 0 } : readPadding(packet)
  if (padding === null) return false
  const left = packet.length - padding.at - padding.bytes
  if (left < 0) return false
  return (flags & 0x80) === 0
    ? left % frames === 0 && left / frames <= frameBytesMax
    : haveSizes(packet.subarray(padding.at, padding.at + left), frames)
}

/** Reads the padding's length. A byte 255 means 254 padding bytes, and then another length byte follows. */
function readPadding(packet: Uint8Array): { at: number; bytes: number } | null {
  let bytes = 0
  for (let at = 2; at < packet.length; at++) {
    const count = packet[at]!
    bytes += Math.min(count, 254)
    if (count < 255) return { at: at + 1, bytes }
  }
  return null
}

/**
 * Returns true if the frames fit. The sizes come before all frames; the last frame has no size and uses the remaining
 * bytes.
 */
function haveSizes(sizesAndFrames: Uint8Array, frames: number): boolean {
  let at = 0
  let sum = 0
  for (let i = 1; i < frames; i++) {
    const size = readSize(sizesAndFrames, at)
    if (size === null) return false
    at += size.bytes
    sum += size.value
  }
  const last = sizesAndFrames.length - at - sum
  return last >= 0 && last <= frameBytesMax
}

/** Reads a frame's size. Up to 251 it is one byte. Otherwise a second byte is multiplied by four and added (3.2.1). */
function readSize(bytes: Uint8Array, at: number): { value: number; bytes: number } | null {
  const first = bytes[at]
  if (first === undefined) return null
  if (first < 252) return { value: first, bytes: 1 }
  const second = bytes[at + 1]
  return second === undefined ? null : { value: first + 4 * second, bytes: 2 }
}
