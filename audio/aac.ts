/**
 * AAC frames with headers (ADTS, ISO/IEC 14496-3 Annex 1.A). Only the headers are read, to find the stream's duration.
 */
import type { ChunkedBytes } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import type { Steps } from './steps.ts'

export type AacInfo = { sampleRateHz: number; channels: number; samples: number }
type FrameHead = { sampleRateHz: number; channels: number; bytes: number; samples: number }

const headBytes = 7
const samplesPerBlock = 1024
const framesPerStep = 10_000
const ratesHz = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350]

/**
 * Returns true if two frames follow each other. A single sync word is no proof, because random data contains it too.
 */
export function isAac(bytes: ChunkedBytes, offset: number): boolean {
  const first = readHead(bytes, offset)
  if (first === undefined) return false
  const next = offset + first.bytes
  return next === bytes.length || readHead(bytes, next)?.sampleRateHz === first.sampleRateHz
}

/**
 * Returns the stream's rate, channels and sample count. Ignores a truncated last frame and a tag after the frames.
 * Throws AudioError `damaged`.
 */
export function* readAac(bytes: ChunkedBytes, offset: number): Steps<AacInfo> {
  const first = readHead(bytes, offset)
  let samples = 0
  let at = offset
  for (let frames = 1; at < bytes.length; frames++) {
    const head = readHead(bytes, at)
    if (head === undefined || at + head.bytes > bytes.length) break
    samples += head.samples
    at += head.bytes
    if (frames % framesPerStep === 0) yield
  }
  if (first === undefined || at - offset < bytes.length - at)
    throw new AudioError('damaged', 'The AAC stream is mostly not AAC frames.')
  return { sampleRateHz: first.sampleRateHz, channels: first.channels, samples }
}

function readHead(bytes: ChunkedBytes, at: number): FrameHead | undefined {
  if (bytes.byteAt(at) !== 0xff) return undefined
  const head = bytes.view(at, headBytes)
  // The layer bits are 0 in ADTS. MP3 frame headers have another value there.
  if (head.length < headBytes || (head[1]! & 0xf6) !== 0xf0) return undefined
  const sampleRateHz = ratesHz[(head[2]! >> 2) & 15]
  const size = ((head[3]! & 3) << 11) | (head[4]! << 3) | (head[5]! >> 5)
  if (sampleRateHz === undefined || size < headBytes) return undefined
  const layout = ((head[2]! & 1) << 2) | (head[3]! >> 6)
  // With channel layout 0 the channel count is inside the frame and is not read, so one channel is assumed. Layout 7
  // means eight channels.
  const channels = layout === 0 ? 1 : layout === 7 ? 8 : layout
  return { sampleRateHz, channels, bytes: size, samples: ((head[6]! & 3) + 1) * samplesPerBlock }
}
