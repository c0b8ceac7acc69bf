/**
 * Hostile files with nothing but headers. Each step in a search must read a bounded number of bytes, because other
 * requests wait until the step is over.
 */
import t from 'tap'
import { ChunkedBytes, chunkAt } from '../../audio/chunked-bytes.ts'
import { AudioError } from '../../audio/error.ts'
import { findMp3 } from '../../audio/mp3.ts'
import { readMp4 } from '../../audio/mp4.ts'
import type { Steps } from '../../audio/steps.ts'
import { bytes, cut, recognised, text } from './build.ts'
import { be32, box, ftyp, mdat, trak, zeros } from './mp4.ts'

const readsOfStepMax = 100_000

class CountedBytes extends ChunkedBytes {
  reads = 0

  override byteAt(offset: number): number | undefined {
    this.reads++
    return super.byteAt(offset)
  }

  override view(offset: number, count: number): Uint8Array {
    this.reads += count
    return super.view(offset, count)
  }
}

type Work = { steps: number; reads: number; readsOfStep: number; result: unknown }

function worked(body: Uint8Array[], run: (bytes: ChunkedBytes) => Steps<unknown>): Work {
  const counted = new CountedBytes(body)
  const work: Work = { steps: 0, reads: 0, readsOfStep: 0, result: null }
  const steps = run(counted)
  const next = () => {
    try {
      return steps.next()
    } catch (error) {
      if (!(error instanceof AudioError)) throw error
      return { done: true, value: `${error.reason}: ${error.message}` }
    }
  }
  for (let isDone = false; !isDone; work.steps++) {
    counted.reads = 0
    const step = next()
    isDone = step.done === true
    work.result = step.value
    work.reads += counted.reads
    work.readsOfStep = Math.max(work.readsOfStep, counted.reads)
  }
  return work
}

const sound = { rateHz: 48_000, channels: 1, duration: 0 }
const trex = box('trex', zeros(4), be32(1), be32(1), be32(1024), zeros(8))
const moov = box('moov', trak(sound), box('mvex', trex))
const repeated = (unit: Uint8Array, times: number) => Uint8Array.from(Buffer.alloc(unit.length * times, unit))
/** Makes a row of empty MP4 boxes. Each box size covers only its header, so a file holds as many boxes as possible. */
const empty = (name: string, times: number) => repeated(box(name), times)
const tfhd = box('tfhd', be32(0), be32(1))
/** Makes an MP4 box whose size claims that the box ends far after the enclosing box. */
const endless = (name: string, ...content: Uint8Array[]) => {
  const long = box(name, ...content)
  long.set(be32(0xffffffff))
  return long
}
const listing = (count: number) => box('trun', be32(0x100), be32(count), repeated(be32(1), count))

const hostile: Record<string, { file: Uint8Array; right: RegExp }> = {
  'runs that end behind their fragments': {
    file: bytes(
      ftyp,
      moov,
      box('moof', repeated(box('traf', tfhd, endless('trun', be32(0x100), be32(1_000_000))), 300)),
      zeros(1_000_000),
    ),
    right: /^damaged: .*ends behind/,
  },
  'fragments that end behind the box around them': {
    file: bytes(ftyp, moov, repeated(box('moof', endless('traf', tfhd)), 300), zeros(1_000_000)),
    right: /^damaged: .*ends behind/,
  },
  'a track that ends behind the head': {
    file: bytes(ftyp, box('moov', endless('trak')), mdat),
    right: /^damaged: .*ends behind/,
  },
  'one run of two million samples': {
    file: bytes(ftyp, moov, box('moof', box('traf', tfhd, listing(2_000_000)))),
    right: /^damaged: .*more samples/,
  },
  'many runs of few samples': {
    file: bytes(ftyp, moov, box('moof', box('traf', tfhd, repeated(listing(2), 300_000)))),
    right: /samples/,
  },
  'outer boxes': { file: bytes(ftyp, moov, empty('free', 600_000)), right: /^damaged: .*more boxes/ },
  'outer boxes without a head of the file': {
    file: bytes(ftyp, empty('free', 300_000)),
    right: /undefined/,
  },
  'boxes in one fragment': {
    file: bytes(ftyp, moov, box('moof', empty('free', 600_000))),
    right: /samples/,
  },
  'fragments in one box': { file: bytes(ftyp, moov, box('moof', empty('traf', 600_000))), right: /samples/ },
  'boxes behind the head of a fragment': {
    file: bytes(ftyp, moov, box('moof', box('traf', tfhd, empty('free', 600_000)))),
    right: /samples/,
  },
  'tracks in the head': { file: bytes(ftyp, box('moov', empty('trak', 300_000))), right: /^damaged: .*more boxes/ },
  'boxes in the head': { file: bytes(ftyp, box('moov', empty('free', 300_000))), right: /^damaged: .*more boxes/ },
}

t.test('an MP4 file that is full of hostile headers is read in bounded time and in small steps', (t) => {
  for (const [name, { file, right }] of Object.entries(hostile)) {
    const { result, readsOfStep, reads } = worked([file], readMp4)
    t.ok(readsOfStep < readsOfStepMax, `${name}: ${readsOfStep} bytes in a step`)
    t.ok(reads < 3 * file.length + 100_000, `${name}: ${reads} bytes of ${file.length}`)
    t.match(typeof result === 'string' ? result : String(JSON.stringify(result)), right, name)
  }
  t.end()
})

t.test('an MP4 file of four hours in fragments of 200 ms is read in small steps', (t) => {
  const moof = box('moof', box('mfhd', zeros(8)), box('traf', tfhd, box('tfdt', zeros(8)), listing(9)))
  const fragments = repeated(bytes(moof, box('mdat', zeros(9))), 72_000)
  const { result, readsOfStep } = worked([bytes(ftyp, moov, fragments)], readMp4)
  t.match(result, { samples: 72_000 * 9 })
  t.ok(readsOfStep < readsOfStepMax, `${readsOfStep} bytes in a step`)
  t.end()
})

t.test('a position in a body of a million chunks is found in few steps, in both directions', (t) => {
  const count = 1 << 20
  const starts = Array.from({ length: count }, (_, at) => at * 16)
  let looks = 0
  const counted = new Proxy(starts, {
    get(target, name) {
      if (name !== 'length') looks++
      return Reflect.get(target, name) as unknown
    },
  })
  const looksOf = (offset: number, near: number) => {
    looks = 0
    t.equal(chunkAt(counted, offset, near), Math.floor(offset / 16), `${offset} from ${near}`)
    return looks
  }
  const end = count * 16 - 1
  for (const [offset, near] of [
    [0, count - 1],
    [end, 0],
    [end - 1440, count - 1],
    [end, count - 91],
    [end / 3, count / 2],
  ] as const)
    t.ok(looksOf(Math.floor(offset), near) <= 70, `${looks} looks for ${offset} from ${near}`)
  for (const [offset, near] of [
    [16 * 5000 - 1, 5000],
    [16 * 5001, 5000],
    [16 * 5000 + 7, 5000],
  ] as const)
    t.ok(looksOf(offset, near) <= 4, `${looks} looks for a neighbour`)
  t.end()
})

t.test('ChunkedBytes skips chunks without bytes', (t) => {
  const none = new Uint8Array(0)
  const body = text('0123456789')
  const read = new ChunkedBytes([
    none,
    body.subarray(0, 3),
    none,
    none,
    body.subarray(3, 4),
    none,
    body.subarray(4),
    none,
  ])
  for (const at of [9, 0, 3, 2, 4, 3, 8, 1, 0, 9]) t.equal(read.byteAt(at), body[at], `byte ${at}`)
  t.equal(read.byteAt(10), undefined)
  t.same(read.view(1, 6), body.subarray(1, 7))
  t.end()
})

t.test('a search for MP3 frames in a hostile body of tiny chunks runs in small steps', (t) => {
  const file = repeated(Uint8Array.of(0xff, 0xfb, 0x90, 0, 1), 1 << 18)
  const { result, readsOfStep } = worked(cut(file, 16), (bytes) => findMp3(bytes, 0))
  t.equal(result, undefined)
  t.ok(readsOfStep < readsOfStepMax, `${readsOfStep} bytes in a step`)
  t.throws(() => recognised(cut(file, 16), null), AudioError)
  t.end()
})
