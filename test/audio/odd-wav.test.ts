/** WAV files with slightly wrong sizes, and with 64-bit floats, as recorders and scientific programs write them. */
import t from 'tap'
import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { AudioError } from '../../audio/error.ts'
import { decodeSamples } from '../../audio/pcm.ts'
import { readWav } from '../../audio/wav.ts'
import { readFixture } from '../speech/fixtures.ts'
import { bytes, cut, extensible, fmt, recognised, riff, sine, text, u16, u32 } from './build.ts'

const telephone = fmt(1, 1, 8000, 16)
const second = new Uint8Array(16000).map((_, at) => at % 251)
const reasonOf = (file: Uint8Array) => {
  try {
    return String(recognised([file], null).dataBytes)
  } catch (error) {
    return error instanceof AudioError ? error.reason : String(error)
  }
}

t.test('if a WAV declares a few bytes more than the file has, the size of the file counts', (t) => {
  const list = text('INFOISFT\x05\0\0\0Lavf6\0')
  const files: Record<string, Uint8Array> = {
    'the header counted twice': riff([
      ['fmt ', telephone],
      ['data', second, 16044],
    ]),
    'the size of RIFF': riff([
      ['fmt ', telephone],
      ['data', second, 16036],
    ]),
    'one byte': riff([
      ['fmt ', telephone],
      ['data', second, 16001],
    ]),
    'a long header': riff([
      ['fmt ', telephone],
      ['LIST', list],
      ['data', second, 16044 + 8 + list.length],
    ]),
    'an extended format': riff([
      ['fmt ', fmt(1, 1, 8000, 16, u16(0))],
      ['data', second, 16046],
    ]),
    'the last block filled up': riff([
      ['fmt ', telephone],
      ['data', second, 16128],
    ]),
    'chunks in front of the format': riff([
      ['JUNK', new Uint8Array(28)],
      ['bext', new Uint8Array(602)],
      ['fmt ', telephone],
      ['data', second, 16008],
    ]),
    'RIFF without a size': riff(
      [
        ['fmt ', telephone],
        ['data', second, 16044],
      ],
      0,
    ),
    'a size of 0, although RIFF has the right size': riff([
      ['fmt ', telephone],
      ['data', second, 0],
    ]),
    'a byte rate that is too small': riff([
      ['fmt ', bytes(u16(1), u16(1), u32(8000), u32(8000), u16(2), u16(16))],
      ['data', second, 16004],
    ]),
    'a long file of the kind RF64': bytes(
      ...[text('RF64'), u32(0xffffffff), text('WAVE'), text('ds64'), u32(28)],
      ...[u32(16072), u32(0), u32(16044), u32(0), u32(8000), u32(0), u32(0)],
      ...[text('fmt '), u32(16), telephone, text('data'), u32(0xffffffff), second],
    ),
    'RIFF itself too large': riff(
      [
        ['fmt ', telephone],
        ['data', second, 16044],
      ],
      99_999,
    ),
  }
  for (const [name, file] of Object.entries(files)) {
    const recording = recognised(cut(file, 1000), null)
    t.equal(recording.dataBytes, second.length, name)
    t.equal(recording.durationMs, 1000, name)
    t.same(file.subarray(recording.dataOffset, recording.dataOffset + 16000), second, name)
  }
  t.end()
})

t.test('if audible sound that a WAV declares is missing, the upload is refused as cut off', (t) => {
  for (const missing of [400, 4000, 15_000])
    t.equal(
      reasonOf(
        riff([
          ['fmt ', telephone],
          ['data', second, 16000 + missing],
        ]),
      ),
      'truncated',
      String(missing),
    )
  const wide = fmt(1, 2, 48000, 16)
  t.equal(
    reasonOf(
      riff([
        ['fmt ', wide],
        ['data', second, 16000 + 3000],
      ]),
    ),
    '16000',
    '16 ms of stereo',
  )
  t.end()
})

t.test('a WAV is read if an odd chunk lacks its padding byte', (t) => {
  const padded = riff([
    ['fmt ', telephone],
    ['LIST', text('INFOodd')],
    ['data', second],
  ])
  const bare = bytes(padded.subarray(0, 36 + 8 + 7), padded.subarray(36 + 8 + 8))
  for (const file of [padded, bare]) t.equal(recognised([file], null).durationMs, 1000)
  const [first] = ['LIST', 'fmt '].map((id) => riff([[id, text('INFOodd')]]).subarray(12, 12 + 8 + 7))
  const early = bytes(
    text('RIFF'),
    u32(99),
    text('WAVE'),
    first ?? [],
    riff([
      ['fmt ', telephone],
      ['data', second],
    ]).subarray(12),
  )
  t.equal(recognised([early], null).durationMs, 1000, 'in front of the format')
  t.end()
})

t.test('the samples of a WAV with 64-bit floats are converted to 32-bit floats', (t) => {
  const tone = sine(440, 8000, 1)
  const wide = new Uint8Array(new Float64Array(tone).buffer)
  const files: Record<string, [file: Uint8Array, channels: number]> = {
    mono: [
      riff([
        ['fmt ', fmt(3, 1, 8000, 64, u16(0))],
        ['data', wide],
      ]),
      1,
    ],
    stereo: [
      riff([
        ['fmt ', fmt(3, 2, 8000, 64)],
        ['fact', u32(4000)],
        ['data', wide],
      ]),
      2,
    ],
    extensible: [
      riff([
        ['fmt ', fmt(0xfffe, 1, 8000, 64, extensible(3, 64))],
        ['data', wide],
      ]),
      1,
    ],
    'the header counted twice': [
      riff([
        ['fmt ', fmt(3, 1, 8000, 64)],
        ['data', wide, wide.length + 44],
      ]),
      1,
    ],
    'two chunks in front': [
      riff([
        ['JUNK', new Uint8Array(28)],
        ['fmt ', fmt(3, 1, 8000, 64)],
        ['LIST', text('INFOabcd')],
        ['data', wide, wide.length + 100],
      ]),
      1,
    ],
    'a length of 0': [
      riff(
        [
          ['fmt ', fmt(3, 1, 8000, 64)],
          ['data', wide, 0],
        ],
        0,
      ),
      1,
    ],
    'a long file of the kind RF64': [
      bytes(
        ...[text('RF64'), u32(0xffffffff), text('WAVE'), text('ds64'), u32(28)],
        ...[u32(wide.length + 72), u32(0), u32(wide.length), u32(0), u32(8000), u32(0), u32(0)],
        ...[text('fmt '), u32(16), fmt(3, 1, 8000, 64), text('data'), u32(0xffffffff), wide],
      ),
      1,
    ],
    'of a stream': [
      riff([
        ['fmt ', fmt(3, 1, 8000, 64)],
        ['data', wide, 0xffffffff],
      ]),
      1,
    ],
  }
  for (const [name, [file, channels]] of Object.entries(files)) {
    for (const sizes of [[file.length], [1001], [3]]) {
      const { chunks, bytes: size, dataOffset, dataBytes, durationMs, format } = recognised(cut(file, ...sizes), null)
      const joined = new Uint8Array(Buffer.concat(chunks))
      t.equal(joined.length, size, name)
      t.same(format, { container: 'wav', encoding: 'pcm_f32le', sampleRateHz: 8000, channels }, name)
      t.equal(durationMs, 1000 / channels, name)
      t.same(decodeSamples(joined.slice(dataOffset, dataOffset + dataBytes), 'pcm_f32le'), tone, name)
      t.equal(readWav(new ChunkedBytes([joined])).dataBytes, tone.length * 4, 'a whole WAV file')
    }
  }
  t.equal(
    reasonOf(
      riff([
        ['fmt ', fmt(3, 1, 8000, 64)],
        ['data', wide, wide.length * 2],
      ]),
    ),
    'truncated',
  )
  t.equal(
    reasonOf(
      riff([
        ['fmt ', fmt(3, 1, 8000, 64)],
        ['data', new Uint8Array(7)],
      ]),
    ),
    'empty',
  )
  t.throws(
    () => readWav(new ChunkedBytes([files['mono']![0]])),
    /format 3 with 64 bits/,
    'where samples are read in place',
  )
  t.end()
})

t.test('a WAV that holds MP3 frames is read as an MP3 file', (t) => {
  const file = readFixture('privacy-prompt', 'mp3')
  const { durationMs, format } = recognised([file], null)
  const mpegLayer3 = bytes(u16(0x55), u16(1), u32(16_000), u32(4000), u16(1), u16(0), u16(12), new Uint8Array(12))
  const list = text('INFOISFT\x05\0\0\0Lavf6\0')
  const wavs: Record<string, Uint8Array> = {
    'as it should be': riff([
      ['fmt ', mpegLayer3],
      ['fact', u32(1)],
      ['data', file],
    ]),
    'with a chunk behind it': riff([
      ['fmt ', mpegLayer3],
      ['data', file],
      ['LIST', list],
    ]),
    'with a length that was never filled in': riff([
      ['fmt ', mpegLayer3],
      ['data', file, 0xffffffff],
    ]),
    'with the header counted': riff([
      ['fmt ', mpegLayer3],
      ['data', file, file.length + 50],
    ]),
    'with padding in front of the frames': riff([
      ['fmt ', mpegLayer3],
      ['data', bytes(new Uint8Array(100), file)],
    ]),
  }
  for (const [name, wav] of Object.entries(wavs)) {
    for (const sizes of [[wav.length], [1000, 7]]) {
      const recording = recognised(cut(wav, ...sizes), null)
      t.same([recording.format, recording.durationMs], [format, durationMs], name)
      const sent = bytes(...recording.chunks)
      t.equal(sent.length, recording.bytes, name)
      t.same(sent.subarray(recording.dataOffset, recording.dataOffset + file.length), file, name)
    }
  }
  const faults: [name: string, wav: Uint8Array, reason: string][] = [
    [
      'cut off',
      riff([
        ['fmt ', mpegLayer3],
        ['data', file, file.length + 5000],
      ]),
      'truncated',
    ],
    [
      'no frames',
      riff([
        ['fmt ', mpegLayer3],
        ['data', new Uint8Array(5000)],
      ]),
      'damaged',
    ],
    [
      'another format',
      riff([
        ['fmt ', bytes(u16(0x50), mpegLayer3.subarray(2))],
        ['data', file],
      ]),
      'unsupported',
    ],
  ]
  for (const [name, wav, reason] of faults) t.equal(reasonOf(wav), reason, name)
  t.end()
})
