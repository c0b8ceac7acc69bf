/**
 * Reads rate, channels and duration from the first sound track in MP4 and M4A files (ISO/IEC 14496-12). Nothing is
 * decoded here; the file is sent unchanged to a provider that reads MP4. Browsers record in fragments and leave the
 * header's duration at 0, so the fragments' durations are added up.
 */
import { ascii, type ChunkedBytes } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import type { Steps } from './steps.ts'

export type Mp4Info = { sampleRateHz: number; channels: number; samples: number }
type Box = { start: number; end: number }
type Track = { id: number; timescale: number; duration: number; codec: string; sampleRateHz: number; channels: number }
/** The number of boxes and samples that may still be read. All walks over a file share one budget. */
type Budget = { boxes: number; samples: number }

/** The maximum number of boxes in a file. A recording with four hours in 200 ms fragments has fewer. */
const boxesMax = 1_000_000
/** The maximum number of boxes inside the file's header (`moov`). A film with 60 tracks has fewer. */
const headBoxesMax = 5000
/** The maximum number of samples with a stated duration. Four hours at 96 kHz have fewer. */
const samplesMax = 1_500_000
const boxesPerStep = 2000
const samplesPerStep = 10_000

const type = (name: string) => Buffer.from(name, 'latin1').readUInt32BE()
const [moovType, mdatType, moofType, trafType] = [type('moov'), type('mdat'), type('moof'), type('traf')]
const [tfhdType, trunType] = [type('tfhd'), type('trun')]

/** The types that the first box may have. QuickTime's older files begin without "ftyp". */
const firstTypes: ReadonlySet<string> = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip'])

export function isMp4(bytes: ChunkedBytes): boolean {
  return firstTypes.has(ascii(bytes.view(4, 4), 0, 4))
}

/**
 * Returns the recording's rate, channels and sample count. Returns undefined if the file describes no sound, for
 * example a picture. Throws AudioError `truncated`, `damaged`, `unsupported`.
 */
export function* readMp4(bytes: ChunkedBytes): Steps<Mp4Info | undefined> {
  const budget = { boxes: boxesMax, samples: samplesMax }
  const { moov, isMedia, isCut } = yield* outline(bytes, budget)
  if (!isMedia) return undefined
  if (moov === undefined || isCut)
    throw new AudioError('truncated', 'The MP4 file ends before its sound is described: the upload was cut off.')
  const track = soundTrack(bytes, moov)
  const { sampleRateHz, channels, timescale } = track
  const duration =
    track.duration + (yield* fragmentsDuration(bytes, track.id, usualDuration(bytes, moov, track.id), budget))
  return { sampleRateHz, channels, samples: Math.round((duration / timescale) * sampleRateHz) }
}

/** Finds the header (`moov`) among the outermost boxes. The header may come after the samples. */
function* outline(
  bytes: ChunkedBytes,
  budget: Budget,
): Steps<{ moov: Box | undefined; isMedia: boolean; isCut: boolean }> {
  let moov: Box | undefined
  let isMedia = false
  const box = new Boxes(bytes, 0, bytes.length, budget)
  while (box.next()) {
    if (budget.boxes % boxesPerStep === 0) yield
    if (box.type === moovType) moov ??= { start: box.start, end: box.end }
    isMedia ||= box.type === moovType || box.type === mdatType
  }
  return { moov, isMedia, isCut: box.end > bytes.length }
}

/**
 * Walks over the boxes between two positions. It is a cursor and not an iterator, because a hostile file may have a
 * million boxes. Throws AudioError `damaged`.
 */
class Boxes {
  type = 0
  /** The current box's content begins at `start` and ends before `end`. */
  start = 0
  end = 0
  readonly #bytes: ChunkedBytes
  readonly #isOutermost: boolean
  readonly #end: number
  readonly #budget: Budget

  constructor(bytes: ChunkedBytes, from: number, to: number, budget: Budget) {
    this.#bytes = bytes
    this.#isOutermost = from === 0
    this.#end = to
    this.#budget = budget
    this.end = from
  }

  /** Goes to the next box. Returns false at the end. */
  next(): boolean {
    const at = this.end
    if (at + 8 > this.#end) return false
    if (--this.#budget.boxes < 0) throw damaged('has more boxes than any recording needs')
    let size = u32(this.#bytes, at)
    this.type = u32(this.#bytes, at + 4)
    this.start = at + 8
    // Size 1: the size follows in 64 bits. Size 0: the box is the rest of the file.
    if (size === 1) {
      size = u64(this.#bytes, at + 8)
      this.start += 8
    } else if (size === 0) size = this.#end - at
    this.end = at + size
    if (this.end < this.start) throw damaged('has a box that is smaller than its head')
    // Without this check boxes could overlap, and a small file could cause hours of work.
    if (this.end > this.#end && !this.#isOutermost) throw damaged('has a box that ends behind the box around it')
    return true
  }
}

function damaged(what: string): AudioError {
  return new AudioError('damaged', `The MP4 file ${what}.`)
}

/** Returns the boxes with a type path, such as `mdia/mdhd`, in the file's header. */
function inside(bytes: ChunkedBytes, parent: Box, path: string, budget: Budget): Box[] {
  const [first = '', ...rest] = path.split('/')
  const boxType = type(first)
  const boxes: Box[] = []
  const box = new Boxes(bytes, parent.start, parent.end, budget)
  while (box.next()) if (box.type === boxType) boxes.push({ start: box.start, end: box.end })
  return rest.length === 0 ? boxes : boxes.flatMap((each) => inside(bytes, each, rest.join('/'), budget))
}

function soundTrack(bytes: ChunkedBytes, moov: Box): Track {
  const budget = { boxes: headBoxesMax, samples: 0 }
  for (const trak of inside(bytes, moov, 'trak', budget)) {
    const [handler] = inside(bytes, trak, 'mdia/hdlr', budget)
    if (handler === undefined || ascii(bytes.view(handler.start + 8, 4), 0, 4) !== 'soun') continue
    const track = readTrack(bytes, trak, budget)
    if (track?.codec === 'mp4a') return track
    if (track) throw new AudioError('unsupported', 'The audio is an MP4 file whose sound is not AAC.')
  }
  throw new AudioError('unsupported', 'The audio is an MP4 file without a sound track.')
}

function readTrack(bytes: ChunkedBytes, trak: Box, budget: Budget): Track | null {
  const [[head], [media], [samples]] = (['tkhd', 'mdia/mdhd', 'mdia/minf/stbl/stsd'] as const).map((path) =>
    inside(bytes, trak, path, budget),
  ) as [Box[], Box[], Box[]]
  if (head === undefined || media === undefined || samples === undefined) return null
  const isLong = bytes.byteAt(media.start) === 1
  const timescale = u32(bytes, media.start + (isLong ? 20 : 12))
  if (timescale === 0) throw new AudioError('damaged', 'The MP4 file counts its time in no unit.')
  // The entry count comes before the first entry.
  const entry = samples.start + 8
  return {
    id: u32(bytes, head.start + (bytes.byteAt(head.start) === 1 ? 20 : 12)),
    timescale,
    duration: durationOrZero(isLong ? u64(bytes, media.start + 24) : u32(bytes, media.start + 16)),
    codec: ascii(bytes.view(entry + 4, 4), 0, 4),
    channels: u16(bytes, entry + 24),
    // A rate over 65,535 Hz does not fit into this field. The field is then 0, and the timescale is the rate.
    sampleRateHz: u16(bytes, entry + 32) || timescale,
  }
}

/** Returns 0 if all bits are set, because the duration is then unknown. */
const durationOrZero = (duration: number) => (duration >= 0xffffffff ? 0 : duration)

function usualDuration(bytes: ChunkedBytes, moov: Box, id: number): number {
  const defaults = inside(bytes, moov, 'mvex/trex', { boxes: headBoxesMax, samples: 0 })
  const own = defaults.find(({ start }) => u32(bytes, start + 4) === id)
  return own === undefined ? 0 : u32(bytes, own.start + 12)
}

function* fragmentsDuration(bytes: ChunkedBytes, id: number, usual: number, budget: Budget): Steps<number> {
  let duration = 0
  const moof = new Boxes(bytes, 0, bytes.length, budget)
  while (moof.next()) {
    if (budget.boxes % boxesPerStep === 0) yield
    if (moof.type !== moofType) continue
    const traf = new Boxes(bytes, moof.start, moof.end, budget)
    while (traf.next()) {
      if (budget.boxes % boxesPerStep === 0) yield
      if (traf.type === trafType) duration += yield* fragmentDuration(bytes, traf, id, usual, budget)
    }
  }
  return duration
}

/** Adds up the durations in a fragment's runs (`trun`). The fragment's header comes before its runs. */
function* fragmentDuration(bytes: ChunkedBytes, traf: Box, id: number, usual: number, budget: Budget): Steps<number> {
  let duration = 0
  let each: number | undefined
  const part = new Boxes(bytes, traf.start, traf.end, budget)
  while (part.next()) {
    if (budget.boxes % boxesPerStep === 0) yield
    if (part.type === tfhdType) {
      if (u32(bytes, part.start + 4) !== id) return 0
      each ??= durationOfEach(bytes, part, usual)
    }
    if (part.type === trunType && each !== undefined) duration += yield* runDuration(bytes, part, each, budget)
  }
  return duration
}

function durationOfEach(bytes: ChunkedBytes, { start }: Box, usual: number): number {
  const flags = u32(bytes, start)
  const at = start + 8 + (flags & 0x1 ? 8 : 0) + (flags & 0x2 ? 4 : 0)
  return flags & 0x8 ? u32(bytes, at) : usual
}

/** Returns a run's duration. A run states each sample's duration, or uses the fragment's default. */
function* runDuration(bytes: ChunkedBytes, { start, end }: Box, each: number, budget: Budget): Steps<number> {
  const flags = u32(bytes, start)
  const count = u32(bytes, start + 4)
  if (!(flags & 0x100)) return count * each
  const sampleBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length
  const first = start + 8 + (flags & 0x1 ? 4 : 0) + (flags & 0x4 ? 4 : 0)
  let duration = 0
  for (let at = first, i = 0; i < count && at + 4 <= end; i++, at += sampleBytes) {
    if (--budget.samples < 0) throw damaged('has more samples than any recording needs')
    if (budget.samples % samplesPerStep === 0) yield
    duration += u32(bytes, at)
  }
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
