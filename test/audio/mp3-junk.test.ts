/** MP3 files with other bytes before the first frame, as editors, stream recorders and proxies leave them. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { AudioError } from '../../audio/error.ts'
import { readFixture } from '../speech/fixtures.ts'
import { bytes, cut, recognised, text, u32 } from './build.ts'

const file = readFixture('privacy-prompt', 'mp3')
const { durationMs } = recognised([file], null)
const id3 = (declared: number, body: Uint8Array) =>
  bytes(text('ID3\x03\0\0'), [0, 0, declared >> 7, declared & 0x7f], body)
const picture = bytes([0xff, 0xd8, 0xff, 0xe0], randomBytes(300_000), [0xff, 0xd9])
const title = id3(12, text('TIT2\0\0\0\x02\0\0\0a'))

const fronts: Record<string, Uint8Array> = {
  'zeros behind a tag': bytes(title, new Uint8Array(1000)),
  'zeros alone': new Uint8Array(4096),
  'two tags': bytes(title, title),
  'two tags and zeros': bytes(title, title, new Uint8Array(417)),
  'a tag that is smaller than its picture': id3(100, picture),
  'a tag that is larger than the file': bytes(text('ID3\x03\0\0'), [0x7f, 0x7f, 0x7f, 0x7f], text('TIT2')),
  'a tag whose size is no size': bytes(text('ID3\x03\0\0'), [0, 0, 0xff, 0xff], new Uint8Array(100)),
  'the rest of a frame': file.subarray(file.length - 100),
  'the head of an answer': text('HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\n\r\n'),
  'a byte order mark': Uint8Array.of(0xef, 0xbb, 0xbf),
  'a tag of the kind APE': bytes(text('APETAGEX'), u32(2000), u32(32), u32(0), u32(0xa0000000), new Uint8Array(8)),
  'a tag with a footer': bytes(
    text('ID3\x04\0'),
    [0x10, 0, 0, 0, 12],
    title.subarray(10),
    text('3DI\x04\0'),
    [0x10, 0, 0, 0, 12],
  ),
  'a page of a proxy': text('<!DOCTYPE html><html><body>502</body></html>'),
  'the length of a chunk': text('5a0\r\n'),
  'many zeros': new Uint8Array(100_000),
  'a stray head of AAC': Uint8Array.of(0xff, 0xf1, 0x50, 0x80),
  'bytes that look like a frame': bytes(file.subarray(0, 4), new Uint8Array(50)),
}

t.test('the first real MP3 frame is detected after leading junk data', (t) => {
  for (const [name, front] of Object.entries(fronts)) {
    for (const sizes of [[front.length + file.length], [1], [1000, 7]]) {
      const recording = recognised(cut(bytes(front, file), ...sizes), null)
      t.equal(recording.format.container, 'mp3', name)
      t.equal(recording.durationMs, durationMs, name)
      t.equal(recording.dataOffset, front.length, name)
    }
  }
  t.end()
})

t.test('data that only resembles MP3 is not recognized as MP3', (t) => {
  const zeros = new Uint8Array(2000)
  const others: Record<string, [body: Uint8Array, reason: string]> = {
    noise: [bytes([0], randomBytes(1 << 20)), 'unrecognised'],
    'one frame behind zeros': [bytes(zeros, file.subarray(0, 288)), 'unrecognised'],
    'a file of another kind that holds frames': [bytes(u32(0x20), text('ftypM4A '), zeros, file), 'unsupported'],
    'junk without end': [bytes(new Uint8Array(3 << 20), file), 'unrecognised'],
    'a picture': [picture, 'unrecognised'],
  }
  for (const [name, [body, reason]] of Object.entries(others)) {
    try {
      recognised([body], null)
      t.fail(name)
    } catch (error) {
      t.equal(error instanceof AudioError && error.reason, reason, name)
    }
  }
  t.end()
})
