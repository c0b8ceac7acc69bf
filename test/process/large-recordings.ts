/** Makes recordings at the limit of four hours, and files with headers only. */
import { wavHeader } from '../../audio/wav.ts'
import { bytes, text } from '../audio/build.ts'
import { be32, box, ftyp, trak, zeros } from '../audio/mp4.ts'
import { readFixture } from '../speech/fixtures.ts'

const mebibyte = 1 << 20
/** One minute beyond the limit, so the recording is read to its end but not transcribed. */
const tooLongS = 4 * 3600 + 60

/** Files with correct headers that are longer than the limit, so the response is 413. */
export const honest: Record<string, () => Blob> = {
  'a WAV of four hours': () => {
    const bytesPerS = 4000
    const header = wavHeader({ encoding: 'mulaw', sampleRateHz: bytesPerS, channels: 1 }, tooLongS * bytesPerS)
    return new Blob([header, Buffer.alloc(tooLongS * bytesPerS)])
  },
  'a FLAC of four hours': () => {
    const [rateHz, frameSamples] = [8000, 4096]
    const frames = Math.ceil((tooLongS * rateHz) / frameSamples)
    const head = Buffer.alloc(42)
    head.write('fLaC')
    head[7] = 34
    head.writeUInt16BE(frameSamples, 8)
    head.writeUInt16BE(frameSamples, 10)
    head.writeUInt32BE((rateHz << 12) | (15 << 4), 18)
    head.writeUInt32BE(tooLongS * rateHz, 22)
    const last = frames - 1
    const frame = [0xff, 0xf8, 0xc0, 0x08, 0xe0 | (last >> 12), 0x80 | ((last >> 6) & 63), 0x80 | (last & 63)]
    return new Blob([head, Buffer.alloc(60 * mebibyte), Buffer.from([...frame, crc8(frame)])])
  },
  'an MP3 of four hours': () => repeated(mp3Frame, (tooLongS * 24_000) / 576),
  'an Ogg of four hours, a page for each packet of 20 ms': () => {
    const page = oggPage([20], [0xf8])
    const pages = Buffer.alloc(page.length * tooLongS * 50, page)
    for (let i = 0; i < tooLongS * 50; i++) pages.writeUInt32LE((i + 1) * 960, i * page.length + 6)
    return new Blob([opusHead, pages])
  },
  'a WebM of four hours, a block for each packet of 20 ms': () =>
    repeated([0xa3, 0x80 | 24, 0x81, 0, 0, 0x80, 0xf8, ...new Uint8Array(19)], tooLongS * 50, webmHead),
  'a WebM of four hours, in groups for packets of 10 ms': () =>
    repeated([0xa0, 0x8c, 0xa1, 0x85, 0x81, 0, 0, 0, 0xf0, 0x9b, 0x81, 10, 0xec, 0x80], tooLongS * 100, webmHead),
  'an MP4 of four hours, in fragments of 200 ms': () => {
    const durations = new Uint8Array(40).map((_, at) => (at % 4 === 2 ? 4 : 0))
    const moof = box('moof', box('traf', mp4FragmentHead, box('trun', be32(0x100), be32(10), durations)))
    return repeated(bytes(moof, box('mdat')), tooLongS * 5, mp4Head)
  },
}

/** Hostile files, each with the expected response status. */
export const hostile: Record<string, { status: number; file: () => Blob }> = {
  'a WAV of empty chunks': { status: 400, file: () => filled('junk\0\0\0\0', 100, wavStart) },
  'a FLAC of beginnings of frames': { status: 400, file: () => filled('\xff\xf8\x19\x08\0', 100, flacStart) },
  'an MP3 of beginnings of frames': { status: 400, file: () => filled('\xff\xfb\x90\xc4', 100, twoMp3Frames) },
  'an MP3 of sync bytes': { status: 400, file: () => filled('\xff', 100, twoMp3Frames) },
  'an MP3 of the smallest frames': { status: 413, file: () => repeated(smallMp3Frame, 1_400_000) },
  'ID3 tags': { status: 415, file: () => filled('ID3\x04\0\0\0\0\0\0', 20) },
  'an Ogg of empty pages': { status: 400, file: () => filled(latin1(oggPage([])), 100, opusHead) },
  'an Ogg of pages with 255 empty segments': {
    status: 400,
    file: () => filled(latin1(oggPage(new Array<number>(255).fill(0))), 100, opusHead),
  },
  'an Ogg of streams': { status: 400, file: () => filled(latin1(opusHead), 20) },
  'a WebM of empty elements': { status: 400, file: () => filled('\xec\x80', 100, webmHead) },
  'a WebM of empty elements before its sound': { status: 400, file: () => filled('\xec\x80', 20, ebmlHead) },
  'a WebM of tracks': { status: 400, file: () => filled(latin1(tracks), 20, ebmlHead) },
  'a WebM of blocks of another track': { status: 400, file: () => filled('\xa3\x84\x82\0\0\x80', 100, webmHead) },
  'a WebM of 5 million empty elements behind its sound': {
    status: 200,
    file: () => filled('\xec\x80', 10, readFixture('privacy-prompt', 'webm')),
  },
  'an MP4 of runs that end behind their fragments': {
    status: 400,
    file: () => {
      const run = bytes(be32(0xffffffff), text('trun'), be32(0x100), be32(1_000_000))
      return new Blob([mp4Head, box('moof', filledBox('traf', bytes(mp4FragmentHead, run), 99_999))])
    },
  },
  'an MP4 of samples': {
    status: 400,
    file: () => {
      const durations = Buffer.alloc(90 * mebibyte)
      const run = box('trun', be32(0x100), be32(durations.length / 4), durations)
      return new Blob([mp4Head, box('moof', box('traf', mp4FragmentHead, run))])
    },
  },
  'an MP4 of empty boxes': { status: 400, file: () => filled('\0\0\0\x08free', 100, mp4Head) },
  'an MP4 of empty boxes in its head': {
    status: 400,
    file: () => new Blob([ftyp, box('moov', Buffer.alloc(20 * mebibyte, '\0\0\0\x08trak', 'latin1'))]),
  },
}

const latin1 = (value: Uint8Array) => Buffer.from(value).toString('latin1')

function filled(unit: string, mebibytes: number, start: Uint8Array = new Uint8Array(0)): Blob {
  return repeated(text(unit), Math.floor((mebibytes * mebibyte - start.length) / unit.length), start)
}

function repeated(unit: Iterable<number>, times: number, start: Uint8Array = new Uint8Array(0)): Blob {
  const filling = Uint8Array.from(unit)
  return new Blob([Uint8Array.from(start), Buffer.alloc(filling.length * Math.floor(times), filling)])
}

const wavStart = wavHeader({ encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 }, null).subarray(0, 36)

/** The start of a FLAC file with 16 MiB as its largest frame. */
const flacStart = bytes(text('fLaC\0\0\0\x22\x10\0\x10\0\0\0\0\xff\xff\xff\x03\xe8\0\xf0'), new Uint8Array(20))

function crc8(head: readonly number[]): number {
  let crc = 0
  for (const byte of head) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 7) & 0xff : crc << 1
  }
  return crc
}

/** An MP3 frame: version 2, 32 kbit/s, 24 kHz, so 96 bytes last 24 ms. */
const mp3Frame = bytes([0xff, 0xf3, 0x44, 0xc4], new Uint8Array(92))
/** The smallest MP3 frame: version 2.5, 8 kbit/s, 8 kHz. */
const smallMp3Frame = bytes([0xff, 0xe3, 0x18, 0xc4], new Uint8Array(68))
const twoMp3Frames = bytes(mp3Frame, mp3Frame)

function oggPage(sizes: readonly number[], start: Iterable<number> = [], flags = 0): Uint8Array {
  const content = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0))
  content.set([...start])
  const head = Uint8Array.from([...text('OggS'), 0, flags, 1, ...new Uint8Array(19), sizes.length])
  return bytes(head, Uint8Array.from(sizes), content)
}

const opusHead = oggPage([19], text('OpusHead\x01\x01'), 2)

const ebmlHead = Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3, 0x80, 0x18, 0x53, 0x80, 0x67, 0x01, ...unknownSize())
const tracks = bytes([0x16, 0x54, 0xae, 0x6b, 0x8d, 0xae, 0x8b, 0xd7, 0x81, 1, 0x86, 0x86], text('A_OPUS'))
const webmHead = bytes(ebmlHead, tracks, [0x1f, 0x43, 0xb6, 0x75, 0x01, ...unknownSize()])

const mp4FragmentHead = box('tfhd', be32(0), be32(1))
const mp4Head = bytes(ftyp, box('moov', trak({ rateHz: 48_000, channels: 1, duration: 0 }), box('mvex', zeros(0))))

function filledBox(type: string, content: Uint8Array, times: number): Uint8Array {
  const unit = box(type, content)
  return Buffer.alloc(unit.length * times, unit)
}

function unknownSize(): number[] {
  return new Array<number>(7).fill(0xff)
}
