/**
 * MP4 and M4A (ISO/IEC 14496-12): rate, channels and length of the first sound track. Nothing is decoded here; the file
 * goes on as it is to a provider that reads it. Recorders of browsers write the samples in fragments and leave the
 * length in the head at 0, so the lengths of fragments are added up.
 */
import { ascii, type ChunkedBytes } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import type { Steps } from './steps.ts'

export type Mp4Info = { sampleRateHz: number; channels: number; samples: number }
type Box = { type: string; start: number; end: number }
type Track = { id: number; timescale: number; duration: number; codec: string; sampleRateHz: number; channels: number }

/** Bounds the work on a hostile body that consists of heads only. */
const boxesMax = 100_000
/** More than four hours have. */
const samplesOfRunMax = 1_000_000

/** A file that is only its first bytes, or holds only pictures, does not describe any sound. */
export function isDescribedMp4(bytes: ChunkedBytes): boolean {
  if (ascii(bytes.view(4, 4), 0, 4) !== 'ftyp') return false
  return [...boxesIn(bytes, 0, bytes.length)].some(({ type }) => type === 'moov' || type === 'mdat')
}

/** Throws AudioError `truncated`, `damaged`, `unsupported`. */
export function* readMp4(bytes: ChunkedBytes): Steps<Mp4Info> {
  const top = [...boxesIn(bytes, 0, bytes.length)]
  const moov = top.find(({ type }) => type === 'moov')
  if (moov === undefined || top.some(({ end }) => end > bytes.length))
    throw new AudioError('truncated', 'The MP4 file ends before its sound is described: the upload was cut off.')
  const track = soundTrack(bytes, moov)
  let { duration } = track
  const usual = usualDuration(bytes, moov, track.id)
  for (const box of top) {
    if (box.type === 'moof') duration += fragmentDuration(bytes, box, track.id, usual)
    yield
  }
  const { sampleRateHz, channels, timescale } = track
  return { sampleRateHz, channels, samples: Math.round((duration / timescale) * sampleRateHz) }
}

function* boxesIn(bytes: ChunkedBytes, from: number, to: number): Generator<Box> {
  let at = from
  for (let boxes = 0; at + 8 <= to; boxes++) {
    if (boxes === boxesMax) throw new AudioError('damaged', `The MP4 file has more than ${boxesMax} boxes.`)
    const type = ascii(bytes.view(at + 4, 4), 0, 4)
    let size = u32(bytes, at)
    let start = at + 8
    // A size of 1 says that 64 bits follow, a size of 0 that the box is the rest of the file.
    if (size === 1) {
      size = u64(bytes, at + 8)
      start += 8
    } else if (size === 0) size = to - at
    if (size < start - at) throw new AudioError('damaged', 'The MP4 file has a box that is smaller than its head.')
    yield { type, start, end: at + size }
    at += size
  }
}

/** The boxes at the end of a path of types, such as `mdia/mdhd`. */
function inside(bytes: ChunkedBytes, { start, end }: Box, path: string): Box[] {
  const [first, ...rest] = path.split('/')
  const found = [...boxesIn(bytes, start, end)].filter(({ type }) => type === first)
  return rest.length === 0 ? found : found.flatMap((box) => inside(bytes, box, rest.join('/')))
}

function soundTrack(bytes: ChunkedBytes, moov: Box): Track {
  for (const trak of inside(bytes, moov, 'trak')) {
    const [handler] = inside(bytes, trak, 'mdia/hdlr')
    if (handler === undefined || ascii(bytes.view(handler.start + 8, 4), 0, 4) !== 'soun') continue
    const track = readTrack(bytes, trak)
    if (track?.codec === 'mp4a') return track
    if (track) throw new AudioError('unsupported', 'The audio is an MP4 file whose sound is not AAC.')
  }
  throw new AudioError('unsupported', 'The audio is an MP4 file without a sound track.')
}

function readTrack(bytes: ChunkedBytes, trak: Box): Track | null {
  const [[head], [media], [samples]] = (['tkhd', 'mdia/mdhd', 'mdia/minf/stbl/stsd'] as const).map((path) =>
    inside(bytes, trak, path),
  ) as [Box[], Box[], Box[]]
  if (head === undefined || media === undefined || samples === undefined) return null
  const isLong = bytes.byteAt(media.start) === 1
  const timescale = u32(bytes, media.start + (isLong ? 20 : 12))
  if (timescale === 0) throw new AudioError('damaged', 'The MP4 file counts its time in no unit.')
  // The first entry follows the number of entries.
  const entry = samples.start + 8
  return {
    id: u32(bytes, head.start + (bytes.byteAt(head.start) === 1 ? 20 : 12)),
    timescale,
    duration: known(isLong ? u64(bytes, media.start + 24) : u32(bytes, media.start + 16)),
    codec: ascii(bytes.view(entry + 4, 4), 0, 4),
    channels: u16(bytes, entry + 24),
    // Rates over 65,535 Hz do not fit in here.
    sampleRateHz: u16(bytes, entry + 32) || timescale,
  }
}

/** All bits set say that the length is unknown. */
const known = (duration: number) => (duration >= 0xffffffff ? 0 : duration)

function usualDuration(bytes: ChunkedBytes, moov: Box, id: number): number {
  const defaults = inside(bytes, moov, 'mvex/trex').find(({ start }) => u32(bytes, start + 4) === id)
  return defaults === undefined ? 0 : u32(bytes, defaults.start + 12)
}

function fragmentDuration(bytes: ChunkedBytes, moof: Box, id: number, usual: number): number {
  let duration = 0
  for (const traf of inside(bytes, moof, 'traf')) {
    const [head] = inside(bytes, traf, 'tfhd')
    if (head === undefined || u32(bytes, head.start + 4) !== id) continue
    const flags = u32(bytes, head.start)
    const at = head.start + 8 + (flags & 0x1 ? 8 : 0) + (flags & 0x2 ? 4 : 0)
    const each = flags & 0x8 ? u32(bytes, at) : usual
    for (const run of inside(bytes, traf, 'trun')) duration += runDuration(bytes, run, each)
  }
  return duration
}

/** A run says for each sample how long it is, or leaves that to the fragment. */
function runDuration(bytes: ChunkedBytes, { start, end }: Box, each: number): number {
  const flags = u32(bytes, start)
  const count = u32(bytes, start + 4)
  if (!(flags & 0x100)) return count * each
  const sampleBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length
  const first = start + 8 + (flags & 0x1 ? 4 : 0) + (flags & 0x4 ? 4 : 0)
  let duration = 0
  for (let at = first, i = 0; i < Math.min(count, samplesOfRunMax) && at + 4 <= end; i++, at += sampleBytes)
    duration += u32(bytes, at)
  return duration
}

function u16(bytes: ChunkedBytes, at: number): number {
  return ((bytes.byteAt(at) ?? 0) << 8) | (bytes.byteAt(at + 1) ?? 0)
}

function u32(bytes: ChunkedBytes, at: number): number {
  return u16(bytes, at) * 65_536 + u16(bytes, at + 2)
}

function u64(bytes: ChunkedBytes, at: number): number {
  return u32(bytes, at) * 2 ** 32 + u32(bytes, at + 4)
}
