/**
 * Reads Ogg files (RFC 3533) with Opus (RFC 7845). Granule positions always count samples at 48 kHz, even if the
 * recording had another rate.
 */
import { ascii, type ChunkedBytes, u16le } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import { samplesOfHead } from './opus.ts'
import type { Steps } from './steps.ts'

export type OggOpusInfo = { channels: number; samples: number }

/** `segments` is the number of segment sizes in the page's header. `next` is the next page's offset. */
type Page = {
  at: number
  serial: number
  granule: number
  first: boolean
  segments: number
  bodyOffset: number
  next: number
}
/** One logical stream. A file may have several streams, one after another (RFC 3533: "chained"). */
type Link = { serial: number; channels: number; preSkip: number; start: number | null; end: number }

const pageHeadBytes = 27
/** Limits the pages in a file. Four hours with one 5 ms packet a page have 2,880,000 pages. */
const pagesMax = 3_000_000
const pagesPerStep = 1000
/**
 * Limits the logical streams in a file. A recorded broadcast has a stream for each song, a film has one for each part.
 */
const streamsMax = 10_000

export function isOgg(bytes: ChunkedBytes): boolean {
  return ascii(bytes.view(0, 4), 0, 4) === 'OggS'
}

/**
 * Returns the recording's channels and sample count. Throws AudioError `unsupported` (another codec), `truncated`,
 * `damaged`.
 */
export function* readOggOpus(bytes: ChunkedBytes): Steps<OggOpusInfo> {
  const links: Link[] = []
  let [streams, other] = [0, 'another codec']
  for (let at = 0, pages = 1; at < bytes.length; pages++) {
    const page = readPage(bytes, at)
    if (page.first) {
      streams++
      const link = openLink(bytes, page)
      if (link) links.push(link)
      else other = codecName(bytes.view(page.bodyOffset, 8))
    } else {
      const link = links.at(-1)
      if (link?.serial === page.serial) advance(bytes, link, page)
    }
    if (pages > pagesMax || streams > streamsMax) throw tooMany()
    if (pages % pagesPerStep === 0) yield
    at = page.next
  }
  const first = links[0]
  if (first === undefined) throw new AudioError('unsupported', `The Ogg file holds ${other}; only Opus is read here.`)
  return { channels: first.channels, samples: links.reduce((sum, link) => sum + samplesOf(link), 0) }
}

function readPage(bytes: ChunkedBytes, at: number): Page {
  const left = bytes.length - at
  const isPage = left >= 4 && u32At(bytes, at) === oggS
  if (left < 4 || (isPage && left < pageHeadBytes)) throw cutOff()
  if (!isPage) throw new AudioError('damaged', `The Ogg file has no page at byte ${at}.`)
  const segments = bytes.byteAt(at + 26)!
  const bodyOffset = at + pageHeadBytes + segments
  let next = bodyOffset
  for (let i = at + pageHeadBytes; i < bodyOffset; i++) next += bytes.byteAt(i) ?? 0
  if (next > bytes.length) throw cutOff()
  return {
    at,
    serial: u32At(bytes, at + 14),
    // The granule position is a signed 64-bit number.
    granule: (u32At(bytes, at + 10) | 0) * 2 ** 32 + u32At(bytes, at + 6),
    first: (bytes.byteAt(at + 5)! & 2) !== 0,
    segments,
    bodyOffset,
    next,
  }
}

/** The page signature "OggS" as a number. */
const oggS = 0x5367674f

function u32At(bytes: ChunkedBytes, at: number): number {
  const high = (bytes.byteAt(at + 3)! << 8) | bytes.byteAt(at + 2)!
  return ((high << 16) | (bytes.byteAt(at + 1)! << 8) | bytes.byteAt(at)!) >>> 0
}

function cutOff(): AudioError {
  return new AudioError('truncated', 'The Ogg file ends in the middle of a page: the upload was cut off.')
}

function tooMany(): AudioError {
  return new AudioError(
    'damaged',
    `The Ogg file has more than ${pagesMax} pages or ${streamsMax} streams, as no recording has.`,
  )
}

function openLink(bytes: ChunkedBytes, page: Page): Link | undefined {
  const head = bytes.view(page.bodyOffset, 19)
  if (head.length < 19 || ascii(head, 0, 8) !== 'OpusHead') return undefined
  return { serial: page.serial, channels: head[9]!, preSkip: u16le(head, 10), start: null, end: 0 }
}

function advance(bytes: ChunkedBytes, link: Link, page: Page): void {
  // Comment header pages have the granule position 0. If no packet ends on a page, its position is -1.
  if (page.granule <= 0) return
  // A broadcast recorded from its middle starts at any position. The first page's granule position is at the page's
  // end, so the page's samples are subtracted.
  link.start ??= Math.max(0, page.granule - pageSamples(bytes, page))
  link.end = page.granule
}

function samplesOf(link: Link): number {
  return Math.max(0, link.end - (link.start ?? 0) - link.preSkip)
}

/** Counts the samples in packets that begin on the page. A packet ends with its first segment under 255 bytes. */
function pageSamples(bytes: ChunkedBytes, page: Page): number {
  let samples = 0
  let offset = page.bodyOffset
  let starts = true
  for (let i = 0; i < page.segments; i++) {
    const size = bytes.byteAt(page.at + pageHeadBytes + i)!
    if (starts && size > 0) samples += samplesOfHead(bytes.byteAt(offset)!, bytes.byteAt(offset + 1) ?? 0)
    starts = size < 255
    offset += size
  }
  return samples
}

function codecName(packet: Uint8Array): string {
  const text = ascii(packet, 0, packet.length)
  if (text.includes('vorbis')) return 'Vorbis'
  if (text.includes('FLAC')) return 'FLAC'
  if (text.includes('Speex')) return 'Speex'
  return 'another codec'
}
