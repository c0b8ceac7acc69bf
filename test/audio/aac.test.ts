/** AAC recordings are measured without decoding: in MP4 files from phones and browsers, and as a stream of frames. */
import t from 'tap'
import { AudioError } from '../../audio/error.ts'
import { bytes, cut, recognised, text } from './build.ts'
import { be32, box, ftyp, mdat, type Sound, trak, zeros } from './mp4.ts'

const sound: Sound = { rateHz: 44_100, channels: 2, duration: 88_200 }

t.test('the format and length of an MP4 file are read, with the moov box at the start or the end', (t) => {
  const moov = box('moov', box('mvhd', zeros(100)), trak(sound))
  const video = trak({ ...sound, handler: 'vide', codec: 'avc1' }, 2)
  const long = box('mdat', zeros(16))
  long.set(be32(1))
  long.set(bytes(be32(0), be32(24)), 8)
  const files: Record<string, Uint8Array> = {
    'the head behind the samples': bytes(ftyp, mdat, moov),
    'the head in front': bytes(ftyp, moov, mdat),
    'a film': bytes(ftyp, box('moov', video, trak(sound)), mdat),
    'a box of 64 bits': bytes(ftyp, long, moov),
    'a unit of milliseconds': bytes(ftyp, box('moov', trak({ ...sound, duration: 2000, timescale: 1000 })), mdat),
    'QuickTime without a type': bytes(box('wide'), mdat, moov),
    'QuickTime that begins with its samples': bytes(mdat, moov),
    'free space in front': bytes(box('free', zeros(8)), ftyp, moov, mdat),
    'a telephone of the third generation': bytes(box('ftyp', text('3gp5'), be32(0)), mdat, moov),
    'samples to the end': bytes(ftyp, moov, be32(0), text('mdat'), zeros(100)),
  }
  for (const [name, file] of Object.entries(files)) {
    for (const sizes of [[file.length], [3]]) {
      const recording = recognised(cut(file, ...sizes), null)
      t.same(recording.format, { container: 'mp4', encoding: 'aac', sampleRateHz: 44_100, channels: 2 }, name)
      t.equal(recording.durationMs, 2000, name)
      t.equal(recording.bytes, file.length, 'the bytes are unchanged')
    }
  }
  t.end()
})

t.test('the format and length of fragmented MP4 files, as browsers record them, are read', (t) => {
  const sized = { ...sound, rateHz: 48_000, channels: 1, duration: 0 }
  const trex = box('trex', zeros(4), be32(1), be32(1), be32(1024), zeros(8))
  const moov = box('moov', trak(sized), box('mvex', trex))
  const flagged = (flags: number) => be32(flags)
  const each = box('moof', box('traf', box('tfhd', flagged(0), be32(1)), box('trun', flagged(1), be32(10), be32(0))))
  const own = box(
    'moof',
    box(
      'traf',
      box('tfhd', flagged(0x28), be32(1), be32(2048)),
      box('trun', flagged(0x201), be32(2), be32(0), zeros(8)),
    ),
  )
  const listed = box(
    'moof',
    box(
      'traf',
      box('tfhd', flagged(1), be32(1), zeros(8)),
      box('trun', flagged(0x304), be32(2), zeros(4), be32(1000), be32(9), be32(24), be32(9)),
    ),
  )
  const other = box('moof', box('traf', box('tfhd', flagged(0), be32(2)), box('trun', flagged(0), be32(1000))))
  const file = bytes(ftyp, moov, each, mdat, own, mdat, listed, mdat, other, mdat)
  t.equal(recognised([file], null).durationMs, Math.ceil((10 * 1024 + 2 * 2048 + 1024) / 48))
  t.end()
})

/** Makes an AAC frame of `size` bytes at 16 kHz. */
const frame = (size: number, channels = 1) => {
  const head = [0xff, 0xf1, 0x40 | (8 << 2), (channels & 3) << 6, size >> 3, (size & 7) << 5, 0]
  return bytes(head, zeros(size - head.length))
}

t.test('the format and length of a stream of AAC frames without a container are read', (t) => {
  const frames = bytes(...Array.from({ length: 16 }, (_, at) => frame(40 + at)))
  const tag = bytes(text('ID3\x04\0\0'), [0, 0, 0, 20], zeros(20))
  for (const file of [
    frames,
    bytes(tag, frames),
    bytes(frames, frame(90).subarray(0, 50)),
    bytes(frames, text('TAG')),
  ]) {
    const recording = recognised(cut(file, 7), null)
    t.same(recording.format, { container: 'aac', encoding: 'aac_adts', sampleRateHz: 16_000, channels: 1 })
    t.equal(recording.durationMs, 1024)
  }
  t.end()
})

t.test('a broken AAC or MP4 file is refused, and the error names the fault', (t) => {
  const reasonOf = (file: Uint8Array) => {
    try {
      recognised([file], null)
      return 'taken'
    } catch (error) {
      return error instanceof AudioError ? `${error.reason}: ${error.message}` : String(error)
    }
  }
  const whole = bytes(ftyp, mdat, box('moov', trak(sound)))
  const rows: [file: Uint8Array, reason: RegExp][] = [
    [whole.subarray(0, 3000), /^truncated: .*cut off/],
    [whole.subarray(0, whole.length - 10), /^truncated/],
    [bytes(ftyp, box('moov', trak({ ...sound, codec: 'alac' }))), /^unsupported: .*not AAC/],
    [bytes(ftyp, box('moov', trak({ ...sound, handler: 'vide' }))), /^unsupported: .*without a sound track/],
    [bytes(ftyp, box('moov', trak({ ...sound, duration: 0 }))), /^empty/],
    [bytes(ftyp, box('moov', trak({ ...sound, duration: 44_100 * 50_000 }))), /^too_long/],
    [bytes(ftyp, box('moov', trak({ ...sound, timescale: 0 }))), /^damaged/],
    [bytes(ftyp, be32(4), text('moov'), zeros(50)), /^damaged/],
    [bytes(frame(40), frame(40), zeros(1000)), /^damaged/],
    [ftyp, /^unsupported: .*an MP4 file/],
  ]
  for (const [file, reason] of rows) t.match(reasonOf(file), reason)
  t.end()
})
