/**
 * Ogg (RFC 3533) with Opus in it (RFC 7845). Granule positions count samples at 48 kHz, at every sample rate of the
 * recording.
 */
import { ascii, type ChunkedBytes, u16le, u32le } from './chunked-bytes.ts'
import { AudioError } from './error.ts'
import { packetSamples } from './opus.ts'

export type OggOpusInfo = { channels: number; samples: number }

type Page = { serial: number; granule: number; first: boolean; segments: Uint8Array; bodyOffset: number; next: number }
/** One logical stream; a file may have several, one after the other (RFC 3533 calls it chained). */
type Link = { serial: number; channels: number; preSkip: number; start: number | null; end: number }

export function isOgg(bytes: ChunkedBytes): boolean {
  return ascii(bytes.view(0, 4), 0, 4) === 'OggS'
}

/** Throws AudioError `unsupported` (another codec), `truncated`, `damaged`. */
export function readOggOpus(bytes: ChunkedBytes): OggOpusInfo {
  const links: Link[] = []
  let other: string | undefined
  for (let at = 0; at < bytes.length; ) {
    const page = readPage(bytes, at)
    if (page.first) {
      const link = openLink(bytes, page)
      if (link) links.push(link)
      else other = codecName(bytes.view(page.bodyOffset, 8))
    } else {
      const link = links.at(-1)
      if (link?.serial === page.serial) advance(bytes, link, page)
    }
    at = page.next
  }
  const first = links[0]
  if (first === undefined) throw new AudioError('unsupported', `The Ogg file holds ${other}; only Opus is read here.`)
  return { channels: first.channels, samples: links.reduce((sum, link) => sum + samplesOf(link), 0) }
}

function readPage(bytes: ChunkedBytes, at: number): Page {
  const head = bytes.view(at, 27)
  if (head.length < 4 || (ascii(head, 0, 4) === 'OggS' && head.length < 27)) throw cutOff()
  if (ascii(head, 0, 4) !== 'OggS') throw new AudioError('damaged', `The Ogg file has no page at byte ${at}.`)
  const segments = bytes.view(at + 27, head[26]!)
  const bodyOffset = at + 27 + segments.length
  const next = bodyOffset + segments.reduce((sum, size) => sum + size, 0)
  if (segments.length < head[26]! || next > bytes.length) throw cutOff()
  const view = new DataView(head.buffer, head.byteOffset, 27)
  return {
    serial: u32le(head, 14),
    granule: Number(view.getBigInt64(6, true)),
    first: (head[5]! & 2) !== 0,
    segments,
    bodyOffset,
    next,
  }
}

function cutOff(): AudioError {
  return new AudioError('truncated', 'The Ogg file ends in the middle of a page: the upload was cut off.')
}

function openLink(bytes: ChunkedBytes, page: Page): Link | undefined {
  const head = bytes.view(page.bodyOffset, 19)
  if (head.length < 19 || ascii(head, 0, 8) !== 'OpusHead') return undefined
  return { serial: page.serial, channels: head[9]!, preSkip: u16le(head, 10), start: null, end: 0 }
}

function advance(bytes: ChunkedBytes, link: Link, page: Page): void {
  // Pages of the comment header carry 0, pages on which no packet ends carry -1.
  if (page.granule <= 0) return
  // A recording of a running broadcast starts at any position: the samples of the first page precede its granule
  // position.
  link.start ??= Math.max(0, page.granule - pageSamples(bytes, page))
  link.end = page.granule
}

function samplesOf(link: Link): number {
  return Math.max(0, link.end - (link.start ?? 0) - link.preSkip)
}

/** Samples in the packets that begin on a page. A packet ends with the first segment shorter than 255 bytes. */
function pageSamples(bytes: ChunkedBytes, page: Page): number {
  let samples = 0
  let offset = page.bodyOffset
  let starts = true
  for (const size of page.segments) {
    if (starts && size > 0) samples += packetSamples(bytes.view(offset, 2))
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
