/**
 * MPEG audio layer III as a sequence of frames (ISO 11172-3, 13818-3). The framer has two uses. It finds a recording's
 * duration. And it passes only whole frames to the decoder, because other bytes between frames (tags, pictures, junk)
 * can make the decoder loop forever.
 */
import { ascii, type ChunkedBytes } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import type { Steps } from './steps.ts'

export type Mp3Info = { sampleRateHz: number; channels: number; samples: number; dataOffset: number }
type FrameHead = { sampleRateHz: number; channels: number; samples: number; bytes: number; sideInfoBytes: number }

const headBytes = 4
const bytesPerStep = 1 << 15
/**
 * The number of byte positions searched for a frame in one step. At one position, several frame headers may be read.
 */
const placesPerStep = 1 << 13
/** The search for the first frame reads at most this much. The picture in a tag with a wrong size is seldom larger. */
const junkBytesMax = 1 << 20
const framesBehindJunk = 4
const tagsMax = 16
const kbpsOfVersion1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const kbpsOfVersion2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

/**
 * Returns the position after the ID3v2 tags at the start; 0 without a tag. Some editors add a second tag before the
 * first. A file with only tags is hostile, so at most `tagsMax` tags are read.
 */
export function id3Bytes(bytes: ChunkedBytes): number {
  let at = 0
  for (let tags = 0; tags < tagsMax; tags++) at += tagBytes(bytes, at)
  return at
}

/** Returns the tag's length; 0 without a tag. A tag encodes its size as four times seven bits. */
function tagBytes(bytes: ChunkedBytes, offset: number): number {
  const head = bytes.view(offset, 10)
  if (head.length < 10 || ascii(head, 0, 3) !== 'ID3' || [6, 7, 8, 9].some((at) => head[at]! > 0x7f)) return 0
  const size = (head[6]! << 21) | (head[7]! << 14) | (head[8]! << 7) | head[9]!
  const footer = head[5]! & 0x10 ? 10 : 0
  return 10 + size + footer
}

/**
 * Returns true if two frames follow each other. A single sync word is no proof, because random data contains it too.
 */
export function isMp3(bytes: ChunkedBytes, offset: number): boolean {
  return framesInRow(bytes, offset, 2) > 0
}

/**
 * Returns the first frame's position, at `offset` or after junk: padding after a tag, a tag with a wrong size, or a
 * partial frame if the recording began in the middle of a stream. Returns undefined if there is no frame. Like
 * decoders, it requires several frames in a row, because other data can look like a frame.
 */
export function* findMp3(bytes: ChunkedBytes, offset: number): Steps<number | undefined> {
  if (isMp3(bytes, offset)) return offset
  // A tag's size may be wrong, so the audio may begin before the stated end.
  for (const start of offset === 0 ? [0] : [offset, 1]) {
    const end = Math.min(start + junkBytesMax, bytes.length)
    for (let at = start; at < end; at++) {
      if (bytes.byteAt(at) === 0xff && framesInRow(bytes, at, framesBehindJunk) > 1) return at
      if (at % placesPerStep === 0) yield
    }
  }
  return undefined
}

/**
 * Counts up to `framesMax` frames, or to the end of the file. Returns 0 if a frame is followed by anything but a frame
 * of the same stream, or if the last frame is truncated.
 */
function framesInRow(bytes: ChunkedBytes, offset: number, framesMax: number): number {
  const first = readHead(bytes.view(offset, headBytes), 0)
  if (first === undefined) return 0
  let at = offset + first.bytes
  let frames = 1
  for (; frames < framesMax && at < bytes.length; frames++) {
    const head = readHead(bytes.view(at, headBytes), 0)
    if (head === undefined || !sameStream(head, first)) return 0
    at += head.bytes
  }
  return at <= bytes.length ? frames : 0
}

/** Returns the recording's rate, channels and sample count. Throws AudioError `truncated`, `damaged`. */
export function* readMp3(bytes: ChunkedBytes, offset: number): Steps<Mp3Info> {
  const framer = new Mp3Framer()
  let unpausedBytes = 0
  for (const piece of bytes.pieces(offset, bytes.length, bytesPerStep)) {
    framer.push(piece)
    unpausedBytes += piece.length
    if (unpausedBytes < bytesPerStep) continue
    unpausedBytes = 0
    yield
  }
  framer.end()
  if (framer.stream === null || framer.skippedBytes > framer.frameBytes) {
    throw new AudioError('damaged', 'The MP3 file is mostly not MP3 frames.')
  }
  // The count in the Xing header excludes the header's frame. Players accept one frame more.
  if (framer.declaredFrames !== null && framer.frames + 1 < framer.declaredFrames) {
    throw new AudioError(
      'truncated',
      `The MP3 file declares ${framer.declaredFrames} frames and holds ${framer.frames}: the upload was cut off.`,
    )
  }
  return { ...framer.stream, samples: framer.samples, dataOffset: offset }
}

export class Mp3Framer {
  /** The first frame's rate and channels; null before the first frame. */
  stream: { sampleRateHz: number; channels: number } | null = null
  frames = 0
  samples = 0
  frameBytes = 0
  skippedBytes = 0
  /** The frame count in a Xing or Info header; null without such a header. */
  declaredFrames: number | null = null
  #pending: Uint8Array = new Uint8Array(0)
  #first: FrameHead | undefined
  /** True if the last frame ended exactly where the next frame should start. */
  #locked = false

  /** Takes the file's next bytes and returns the frames that are now complete. Frames may share memory with `chunk`. */
  push(chunk: Uint8Array): Uint8Array[] {
    return this.#cut(this.#pending.length === 0 ? chunk : concat(this.#pending, chunk), false)
  }

  /** Returns the last frame if `push` held it back: after junk, `push` returns a frame only when it finds the next. */
  end(): Uint8Array[] {
    return this.#cut(this.#pending, true)
  }

  #cut(data: Uint8Array, ended: boolean): Uint8Array[] {
    const frames: Uint8Array[] = []
    let at = 0
    while (at + headBytes <= data.length) {
      const head = readHead(data, at)
      if (!head || (this.#first && !sameStream(head, this.#first))) {
        this.#skip(1)
        at++
        continue
      }
      const next = at + head.bytes
      if (next > data.length || (!this.#locked && !ended && next + headBytes > data.length)) break
      if (!this.#locked && next + headBytes <= data.length && !sameStream(readHead(data, next), head)) {
        this.#skip(1)
        at++
        continue
      }
      this.#take(head, data.subarray(at, next), frames)
      at = next
    }
    // The remaining bytes are copied, because the chunk belongs to the calling code. They are at most one frame.
    this.#pending = data.slice(at)
    return frames
  }

  #take(head: FrameHead, frame: Uint8Array, frames: Uint8Array[]): void {
    this.#locked = true
    this.frameBytes += head.bytes
    frames.push(frame)
    if (this.#first === undefined) {
      this.#first = head
      this.stream = { sampleRateHz: head.sampleRateHz, channels: head.channels }
      this.declaredFrames = xingFrames(frame, head.sideInfoBytes)
      if (this.declaredFrames !== null) return
    }
    this.frames++
    this.samples += head.samples
  }

  #skip(bytes: number): void {
    this.#locked = false
    this.skippedBytes += bytes
  }
}

function readHead(data: Uint8Array, at: number): FrameHead | undefined {
  if (data[at] !== 0xff || at + headBytes > data.length || (data[at + 1]! & 0xe0) !== 0xe0) return undefined
  const version = (data[at + 1]! >> 3) & 3
  const layer = (data[at + 1]! >> 1) & 3
  const bitrate = data[at + 2]! >> 4
  const rate = (data[at + 2]! >> 2) & 3
  // Version 1 and rate 3 are reserved; layer code 1 is III; bit rate 0 is "free", which encoders do not write.
  if (version === 1 || layer !== 1 || bitrate === 0 || bitrate === 15 || rate === 3) return undefined
  const version1 = version === 3
  const sampleRateHz = [44100, 48000, 32000][rate]! >> (version1 ? 0 : version === 2 ? 1 : 2)
  const kbps = (version1 ? kbpsOfVersion1 : kbpsOfVersion2)[bitrate]!
  const channels = data[at + 3]! >> 6 === 3 ? 1 : 2
  const samples = version1 ? 1152 : 576
  const bytes = Math.floor((samples * 125 * kbps) / sampleRateHz) + ((data[at + 2]! >> 1) & 1)
  const sideInfoBytes = version1 ? (channels === 1 ? 17 : 32) : channels === 1 ? 9 : 17
  return { sampleRateHz, channels, samples, bytes, sideInfoBytes }
}

function sameStream(head: FrameHead | undefined, other: FrameHead): boolean {
  return head !== undefined && head.sampleRateHz === other.sampleRateHz && head.samples === other.samples
}

/**
 * Returns the frame count from the first frame, or null. The first frame may hold a table instead of sound: "Xing"
 * (variable rate) or "Info" (constant), flags, frame count.
 */
function xingFrames(frame: Uint8Array, sideInfoBytes: number): number | null {
  const at = headBytes + sideInfoBytes
  if (frame.length < at + 12 || !['Xing', 'Info'].includes(ascii(frame, at, 4))) return null
  const view = new DataView(frame.buffer, frame.byteOffset + at)
  return view.getUint32(4) & 1 ? view.getUint32(8) : 0
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length)
  joined.set(a)
  joined.set(b, a.length)
  return joined
}
