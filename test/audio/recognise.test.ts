import t from 'tap'
import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { AudioError } from '../../audio/error.ts'
import { wavHeader } from '../../audio/wav.ts'
import { webmPackets } from '../../audio/webm.ts'
import { fc } from '../random.ts'
import { readFixture } from '../speech/fixtures.ts'
import { bytes, cut, extensible, fmt, recognised, riff, text, u32 } from './build.ts'
import { refuses } from './refusals.ts'

const second = new Uint8Array(16000)
const telephone = fmt(1, 1, 8000, 16)
const sizeOf = (packets: Iterable<Uint8Array>) => [...packets].reduce((sum, packet) => sum + packet.length, 0)

t.test('WAV: the format of samples is read from the header, for every format', (t) => {
  const cases = [
    { chunk: fmt(1, 1, 8000, 8), encoding: 'pcm_u8' },
    { chunk: fmt(1, 2, 44100, 16), encoding: 'pcm_s16le' },
    { chunk: fmt(1, 1, 48000, 24), encoding: 'pcm_s24le' },
    { chunk: fmt(1, 6, 16000, 32), encoding: 'pcm_s32le' },
    { chunk: fmt(3, 1, 16000, 32), encoding: 'pcm_f32le' },
    { chunk: fmt(6, 1, 8000, 8), encoding: 'alaw' },
    { chunk: fmt(7, 1, 8000, 8), encoding: 'mulaw' },
    { chunk: fmt(0xfffe, 2, 48000, 24, extensible(1, 24)), encoding: 'pcm_s24le' },
    { chunk: fmt(0xfffe, 2, 48000, 32, extensible(3, 32)), encoding: 'pcm_f32le' },
    { chunk: fmt(1, 1, 16000, 16, new Uint8Array(2)), encoding: 'pcm_s16le' },
  ]
  for (const { chunk, encoding } of cases) {
    const view = new DataView(chunk.buffer, chunk.byteOffset)
    const bytesPerSecond = view.getUint32(8, true)
    const file = riff([
      ['fmt ', chunk],
      ['data', new Uint8Array(bytesPerSecond)],
    ])
    const recording = recognised([file], null)
    t.equal(recording.format.encoding, encoding)
    t.equal(recording.format.channels, view.getUint16(2, true))
    t.equal(recording.format.sampleRateHz, view.getUint32(4, true))
    t.equal(recording.durationMs, 1000)
  }
  t.end()
})

t.test('WAV: chunks before and after the data, padded if odd, are read from a body that is cut anywhere', (t) => {
  const list = text('INFOISFT\x05\0\0\0Lavf6')
  const file = riff([
    ['LIST', list],
    ['fmt ', telephone],
    ['fact', u32(8000)],
    ['data', second],
    ['id3 ', text('abc')],
  ])
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 }), (sizes) => {
      const recording = recognised(cut(file, ...sizes), null)
      const joined = Buffer.concat(recording.chunks)
      const id = joined.toString('latin1', recording.dataOffset - 8, recording.dataOffset - 4)
      return id === 'data' && recording.dataBytes === second.length && recording.bytes === file.length
    }),
    { numRuns: 30 },
  )
  t.end()
})

t.test('WAV: a length field that a streaming writer has not set means "to the end"', (t) => {
  for (const size of [0, 0xffffffff, 0x7fffffff, 0x7ffff000]) {
    const file = riff(
      [
        ['fmt ', telephone],
        ['data', second, size],
      ],
      size === 0 ? 0 : 0xffffffff,
    )
    t.equal(recognised([file], null).dataBytes, second.length, String(size))
  }
  const rf64 = riff([
    ['ds64', bytes(u32(0), u32(0), u32(16000), u32(0))],
    ['fmt ', telephone],
    ['data', second, 0xffffffff],
  ])
  rf64.set(text('RF64'))
  t.equal(recognised([rf64], null).durationMs, 1000, 'RF64')
  const odd = riff([
    ['fmt ', telephone],
    ['data', second.subarray(0, 15999), 0xffffffff],
  ])
  t.equal(recognised([odd], null).dataBytes % 2, 0, 'whole samples')
  t.end()
})

t.test('WAV: a broken file is refused, and the error names the fault', (t) => {
  const whole = riff([
    ['fmt ', telephone],
    ['data', second],
  ])
  refuses(t, 'truncated', /"data" chunk declares 16000 bytes and 9956 are there/, whole.subarray(0, 10000))
  refuses(t, 'truncated', /ends before its "data" chunk/, whole.subarray(0, 30))
  refuses(
    t,
    'empty',
    /no samples/,
    riff([
      ['fmt ', telephone],
      ['data', new Uint8Array(0)],
    ]),
  )
  refuses(t, 'damaged', /no "fmt "/, riff([['data', second]]))
  refuses(
    t,
    'damaged',
    /too short/,
    riff([
      ['fmt ', telephone.subarray(0, 10)],
      ['data', second],
    ]),
  )
  refuses(
    t,
    'unsupported',
    /format 2 with 4 bits/,
    riff([
      ['fmt ', fmt(2, 1, 8000, 4)],
      ['data', second],
    ]),
  )
  refuses(
    t,
    'unsupported',
    /format 3 with 16 bits/,
    riff([
      ['fmt ', fmt(3, 1, 8000, 16)],
      ['data', second],
    ]),
  )
  refuses(
    t,
    'unsupported',
    /0 channels/,
    riff([
      ['fmt ', fmt(1, 0, 8000, 16)],
      ['data', second],
    ]),
  )
  refuses(
    t,
    'unsupported',
    /9 channels/,
    riff([
      ['fmt ', fmt(1, 9, 8000, 16)],
      ['data', new Uint8Array(18)],
    ]),
  )
  refuses(
    t,
    'unsupported',
    /1000 Hz/,
    riff([
      ['fmt ', fmt(1, 1, 1000, 16)],
      ['data', second],
    ]),
  )
  const crowd = riff(Array.from({ length: 1100 }, () => ['junk', new Uint8Array(0)]))
  refuses(t, 'damaged', /more than 1000 chunks/, crowd)
  t.end()
})

t.test('WAV: a header that we wrote is read with the same format and length', (t) => {
  for (const encoding of ['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_s32le', 'pcm_f32le', 'mulaw', 'alaw'] as const) {
    const data = new Uint8Array(24000)
    for (const length of [data.length, null]) {
      const header = wavHeader({ encoding, sampleRateHz: 24000, channels: 1 }, length)
      const recording = recognised([header, data], null)
      t.same(recording.format, { container: 'wav', encoding, sampleRateHz: 24000, channels: 1 })
      t.equal(recording.dataOffset, header.length)
      t.equal(recording.dataBytes, data.length)
    }
  }
  t.equal(wavHeader({ encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 }, 0).length, 44)
  t.end()
})

t.test('raw samples are read only if their format is declared', (t) => {
  const declared = { encoding: 'mulaw', sampleRateHz: 8000, channels: 2 } as const
  const recording = recognised([second, second], declared)
  t.same(recording.format, { container: 'raw', ...declared })
  t.equal(recording.durationMs, 2000)
  const wav = riff([
    ['fmt ', telephone],
    ['data', second],
  ])
  const same = recognised([wav], { encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 })
  t.equal(same.format.container, 'wav', 'a header that says the same')
  refuses(t, 'damaged', /something else is declared/, wav, declared)
  refuses(t, 'damaged', /declared as opus/, second, { ...declared, encoding: 'opus' })
  refuses(t, 'unsupported', /12 channels/, second, { ...declared, channels: 12 })
  refuses(t, 'empty', /is empty/, new Uint8Array(0), declared)
  t.end()
})

t.test('the lengths of FLAC, Ogg/Opus and MP3 files are read', (t) => {
  const wav = recognised([readFixture('privacy-prompt')], null)
  const formats = { flac: ['flac', 8000], opus: ['ogg', 48000], mp3: ['mp3', 8000] } as const
  for (const extension of ['flac', 'opus', 'mp3'] as const) {
    const file = readFixture('privacy-prompt', extension)
    for (const sizes of [[file.length], [1], [7, 300, 1]]) {
      const recording = recognised(cut(file, ...sizes), null)
      t.same([recording.format.container, recording.format.sampleRateHz], formats[extension])
      t.equal(recording.format.channels, 1)
      // MP3 encoders add silence: at most three frames, with 72 ms each.
      t.ok(
        Math.abs(recording.durationMs - wav.durationMs) <= (extension === 'mp3' ? 220 : 1),
        `${extension} ${recording.durationMs}`,
      )
      t.equal(recording.dataOffset + recording.dataBytes, file.length)
    }
  }
  t.end()
})

t.test('FLAC from a pipe has no length, and a FLAC file that is cut declares more audio than it has', (t) => {
  const file = readFixture('privacy-prompt', 'flac')
  const durationMs = recognised([file], null).durationMs
  const piped = Uint8Array.from(file)
  piped[21]! &= 0xf0
  piped.fill(0, 22, 26)
  t.equal(recognised([piped], null).durationMs, durationMs)
  refuses(t, 'truncated', /declares \d+ samples and ends after \d+/, file.subarray(0, file.length / 2))
  refuses(t, 'truncated', /no audio frame/, file.subarray(0, 60))
  refuses(t, 'damaged', /STREAMINFO/, file.subarray(0, 20))
  t.end()
})

t.test('Ogg: a file that is cut, damaged, or in another codec is refused', (t) => {
  const file = readFixture('privacy-prompt', 'opus')
  refuses(t, 'truncated', /middle of a page/, file.subarray(0, file.length - 10))
  const damaged = Uint8Array.from(file)
  damaged.set(text('xxxx'), Buffer.from(file).indexOf('OggS', 10))
  refuses(t, 'damaged', /no page at byte/, damaged)
  const vorbis = Uint8Array.from(file)
  vorbis.set(text('\x01vorbis '), 28)
  refuses(t, 'unsupported', /holds Vorbis/, vorbis)
  const twice = recognised([file, file], null)
  t.equal(twice.durationMs, Math.ceil(2 * recognised([file], null).durationMs), 'chained streams add up')
  t.end()
})

t.test('WebM as a browser records it is read: sizes are unknown, and a video track may be beside the audio', (t) => {
  const wav = recognised([readFixture('privacy-prompt')], null)
  const file = readFixture('privacy-prompt', 'webm')
  for (const sizes of [[file.length], [1], [7, 300, 1]]) {
    const { format, durationMs } = recognised(cut(file, ...sizes), null)
    t.same(format, { container: 'webm', encoding: 'opus', sampleRateHz: 48_000, channels: 2 })
    // The browser's recorder ran a little longer than the recording that it captured.
    t.ok(durationMs >= wav.durationMs - 60 && durationMs < wav.durationMs + 500, `${durationMs} of ${wav.durationMs}`)
    t.equal(sizeOf(webmPackets(new ChunkedBytes(cut(file, ...sizes)))), sizeOf(webmPackets(new ChunkedBytes([file]))))
  }
  const film = recognised([readFixture('please-try-call-later-video', 'webm')], null)
  const sound = recognised([readFixture('please-try-call-later')], null)
  t.ok(Math.abs(film.durationMs - sound.durationMs) < 500, `${film.durationMs} of ${sound.durationMs}`)
  t.end()
})

t.test('WebM: a file with known sizes is read, and a file that is cut, damaged or without audio is refused', (t) => {
  const live = readFixture('privacy-prompt', 'webm')
  const at = (...marker: number[]) => Buffer.from(live).indexOf(Buffer.from(marker))
  const sized = Uint8Array.from(live)
  const segment = at(0x18, 0x53, 0x80, 0x67) + 4
  const segmentBytes = live.length - segment - 8
  sized.set([0x01, 0, 0, 0, 0, 0, segmentBytes >> 8, segmentBytes & 0xff], segment)
  t.equal(recognised([sized], null).durationMs, recognised([live], null).durationMs)
  refuses(t, 'truncated', /middle of an element/, live.subarray(0, live.length - 10))
  refuses(t, 'unsupported', /holds no audio; only Opus/, live.subarray(0, segment + 8))
  const vorbis = Uint8Array.from(live)
  vorbis.set(text('A_AAC\0'), at(...text('A_OPUS')))
  refuses(t, 'unsupported', /holds AAC; only Opus/, vorbis)
  const noise = Uint8Array.from(live)
  noise.fill(0, at(0x1f, 0x43, 0xb6, 0x75), at(0x1f, 0x43, 0xb6, 0x75) + 20)
  refuses(t, 'damaged', /begins no element/, noise)
  const laced = Uint8Array.from(live)
  // A block has an id, a size in one or two bytes, a track, a time and flags. The flags are changed here.
  const block = Buffer.from(live).indexOf(Buffer.from([0x81, 0, 0]), at(0x1f, 0x43, 0xb6, 0x75) + 12)
  laced[block + 3]! |= 0x02
  refuses(t, 'unsupported', /several packets in a block/, laced)
  t.throws(() => recognised([bytes(text('\x1a\x45\xdf\xa3'), second)], null), AudioError)
  fc.assert(
    fc.property(fc.nat(live.length - 1), fc.nat(255), fc.nat(live.length), (place, value, length) => {
      const hurt = Uint8Array.from(live.subarray(0, Math.max(4, length)))
      if (place < hurt.length && place >= 4) hurt[place] = value
      try {
        recognised([hurt], null)
      } catch (error) {
        if (!(error instanceof AudioError)) throw error
      }
    }),
    { numRuns: 2000 },
  )
  t.end()
})

t.test('MP3: tags are skipped, a truncated file is detected, and noise is refused', (t) => {
  const file = readFixture('privacy-prompt', 'mp3')
  const { durationMs } = recognised([file], null)
  const tag = bytes(text('ID3\x04\0\0'), Uint8Array.of(0, 0, 2, 44), new Uint8Array(300).fill(0xff))
  const tail = bytes(text('TAG'), new Uint8Array(125))
  const tagged = recognised([tag, file, tail], null)
  t.equal(tagged.durationMs, durationMs)
  t.equal(tagged.dataOffset, 310)
  refuses(t, 'truncated', /declares \d+ frames and holds \d+/, file.subarray(0, file.length / 2))
  refuses(t, 'unrecognised', /no known format/, file.subarray(2000, 2100))
  const mostlyJunk = bytes(file.subarray(0, 900), new Uint8Array(20000))
  refuses(t, 'damaged', /mostly not MP3/, mostlyJunk)
  t.end()
})

t.test('the error for an unsupported format names the format', (t) => {
  refuses(t, 'unsupported', /MP4/, bytes(u32(0x20), text('ftypM4A '), second))
  refuses(t, 'unsupported', /AIFF/, bytes(text('FORM'), second))
  refuses(t, 'unrecognised', /no known format/, text('hello'))
  refuses(t, 'empty', /is empty/, new Uint8Array(0))
  t.end()
})

t.test('a recording is refused if it lasts longer than the limit', (t) => {
  const declared = { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 } as const
  t.throws(() => recognised([new Uint8Array(8001)], declared, 1000), /1 minutes; at most 1 are taken/)
  t.equal(recognised([new Uint8Array(8000)], declared, 1000).durationMs, 1000)
  const fiveHours = new Array<Uint8Array>(5 * 60).fill(new Uint8Array(60 * 8000))
  t.throws(() => recognised(fiveHours, declared), /300 minutes; at most 240/)
  t.end()
})

t.test('random and damaged bodies fail only with an AudioError', (t) => {
  const seeds = [
    readFixture('privacy-prompt', 'flac'),
    readFixture('privacy-prompt', 'opus'),
    readFixture('privacy-prompt', 'mp3'),
    readFixture('privacy-prompt', 'webm'),
  ]
  const heads = [
    ...seeds,
    riff([
      ['fmt ', telephone],
      ['data', second],
    ]),
  ].map((file) => file.subarray(0, 2000))
  fc.assert(
    fc.property(
      fc.constantFrom(...heads),
      fc.array(fc.tuple(fc.nat(1999), fc.nat(255)), { maxLength: 20 }),
      (head, changes) => {
        const body = Uint8Array.from(head)
        for (const [at, value] of changes) body[at] = value
        try {
          recognised(cut(body, 97), null)
        } catch (error) {
          if (!(error instanceof AudioError)) throw error
        }
      },
    ),
    { numRuns: 500 },
  )
  t.pass('500 damaged bodies')
  t.end()
})
