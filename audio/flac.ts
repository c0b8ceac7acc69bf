/**
 * FLAC (RFC 9639): rate, channels and length from STREAMINFO. If an encoder writes to a pipe, the length stays 0, and a
 * truncated file still declares its full length. So the last frame is read too, because each frame header states its
 * position.
 */
import { ascii, type ChunkedBytes } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import type { Steps } from './steps.ts'

export type FlacInfo = { sampleRateHz: number; channels: number; samples: number }
type StreamInfo = FlacInfo & { blockSize: number; frameBytesMax: number }

/** The largest frame if STREAMINFO states no size: 65,535 samples, 8 channels, 16 bits, uncompressed. */
const frameBytesBound = 1 << 20
/**
 * The largest possible frame at 32 bits. A larger frame size in STREAMINFO is ignored, because a hostile file can state
 * eight times as much.
 */
const frameBytesMost = 1 << 21
const frameHeadBytesMax = 16
const bytesPerStep = 1 << 14

export function isFlac(bytes: ChunkedBytes, offset: number): boolean {
  return ascii(bytes.view(offset, 4), 0, 4) === 'fLaC'
}

/**
 * Returns the recording's rate, channels and sample count. `offset` is the position of "fLaC". Throws AudioError
 * `damaged`, `truncated`.
 */
export function* readFlac(bytes: ChunkedBytes, offset: number): Steps<FlacInfo> {
  const info = readStreamInfo(bytes.view(offset + 4, 38))
  const end = yield* lastFrameEnd(bytes, info)
  if (end === undefined) throw new AudioError('truncated', 'The FLAC file has no audio frame: the upload was cut off.')
  if (end < info.samples) {
    throw new AudioError(
      'truncated',
      `The FLAC file declares ${info.samples} samples and ends after ${end}: the upload was cut off.`,
    )
  }
  return { sampleRateHz: info.sampleRateHz, channels: info.channels, samples: info.samples || end }
}

function readStreamInfo(block: Uint8Array): StreamInfo {
  if (block.length < 38 || (block[0]! & 0x7f) !== 0) {
    throw new AudioError('damaged', 'The FLAC file does not start with its STREAMINFO block.')
  }
  const view = new DataView(block.buffer, block.byteOffset + 4, 34)
  return {
    blockSize: view.getUint16(0),
    frameBytesMax: view.getUint32(6) & 0xffffff,
    sampleRateHz: view.getUint32(10) >>> 12,
    channels: ((view.getUint8(12) >> 1) & 7) + 1,
    samples: (view.getUint8(13) & 0xf) * 2 ** 32 + view.getUint32(14),
  }
}

/**
 * Returns the position after the last frame, in samples. Searches backwards from the end for a frame header with a
 * correct checksum.
 */
function* lastFrameEnd(bytes: ChunkedBytes, info: StreamInfo): Steps<number | undefined> {
  const span = Math.min(info.frameBytesMax || frameBytesBound, frameBytesMost) + frameHeadBytesMax
  const start = Math.max(0, bytes.length - span)
  const tail = bytes.view(start, bytes.length - start)
  for (let at = tail.length - 6; at >= 0; at--) {
    if (at % bytesPerStep === 0) yield
    if (tail[at] !== 0xff || (tail[at + 1]! & 0xfe) !== 0xf8) continue
    const end = frameEnd(tail.subarray(at, at + frameHeadBytesMax), info)
    if (end !== undefined) return end
  }
  return undefined
}

function frameEnd(head: Uint8Array, info: StreamInfo): number | undefined {
  const blockCode = head[2]! >> 4
  const rateCode = head[2]! & 0xf
  if (blockCode === 0 || rateCode === 0xf || head[3]! & 1 || !channelsFit(head[3]! >> 4, info.channels))
    return undefined
  const number = codedNumber(head)
  if (number === undefined) return undefined
  const blockBytes = blockCode === 6 ? 1 : blockCode === 7 ? 2 : 0
  const rateBytes = rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0
  const crcAt = number.next + blockBytes + rateBytes
  if (crcAt >= head.length || crc8(head.subarray(0, crcAt)) !== head[crcAt]) return undefined
  const variable = (head[1]! & 1) === 1
  const start = variable ? number.value : number.value * info.blockSize
  return start + blockSizeOf(blockCode, head, number.next)
}

function channelsFit(code: number, channels: number): boolean {
  // Channel codes 8 to 10 are the three stereo encodings; greater codes are reserved.
  return code < 8 ? code + 1 === channels : code <= 10 && channels === 2
}

/** Reads a number with up to 36 bits in an extended form of UTF-8. */
function codedNumber(head: Uint8Array): { value: number; next: number } | undefined {
  const first = head[4]!
  if (first < 0x80) return { value: first, next: 5 }
  const length = Math.clz32(~(first << 24))
  if (length < 2 || length > 7 || 4 + length > head.length) return undefined
  let value = first & (0x7f >> length)
  for (let i = 1; i < length; i++) {
    if ((head[4 + i]! & 0xc0) !== 0x80) return undefined
    value = value * 64 + (head[4 + i]! & 0x3f)
  }
  return { value, next: 4 + length }
}

function blockSizeOf(code: number, head: Uint8Array, at: number): number {
  if (code === 1) return 192
  if (code <= 5) return 144 << code
  if (code === 6) return head[at]! + 1
  if (code === 7) return ((head[at]! << 8) | head[at + 1]!) + 1
  return 1 << code
}

function crc8(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 0xff : crc << 1
  }
  return crc
}
