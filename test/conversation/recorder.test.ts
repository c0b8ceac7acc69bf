/** Recordings with recorded speech are read back from the file: each side keeps its times from the call. */
import t from 'tap'
import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { readWav } from '../../audio/wav.ts'
import type { GrowingFile } from '../../domain/conversation/hearing/recorded-peaks.ts'
import { Recorder, recordingRateHz } from '../../domain/conversation/hearing/recorder.ts'
import type { RecordedVoice } from '../../domain/conversation/parts/deps.ts'
import { placeOf } from '../audio/likeness.ts'
import { TestClock } from '../clock.ts'
import { speechAt } from '../speech/samples.ts'

const perMs = recordingRateHz / 1000
const frame = 20 * perMs
const caller = await speechAt('privacy-prompt', recordingRateHz)
const agent = await speechAt('tt-weasels', recordingRateHz)

class MemoryFile implements GrowingFile {
  bytes = new Uint8Array(0)
  appends = 0
  isClosed = false

  append(bytes: Uint8Array): Promise<void> {
    this.appends++
    this.bytes = Buffer.concat([this.bytes, bytes])
    return Promise.resolve()
  }

  replaceStart(bytes: Uint8Array): Promise<void> {
    this.bytes.set(bytes)
    return Promise.resolve()
  }

  close(): Promise<void> {
    this.isClosed = true
    return Promise.resolve()
  }

  /** Reads the two sides, and their length in milliseconds. */
  get sides(): { left: Int16Array; right: Int16Array; ms: number } {
    const { format, dataOffset, dataBytes } = readWav(new ChunkedBytes([this.bytes]))
    t.match(format, { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 2 })
    const samples = new Int16Array(Uint8Array.from(this.bytes.subarray(dataOffset, dataOffset + dataBytes)).buffer)
    const side = (channel: number) => samples.filter((_, i) => i % 2 === channel)
    return { left: side(0), right: side(1), ms: samples.length / 2 / perMs }
  }
}

function record(file: GrowingFile = new MemoryFile(), peaks: GrowingFile = new MemoryFile()) {
  const clock = new TestClock()
  const warnings: string[] = []
  const warn = (_: object, message: string) => warnings.push(message)
  const recorder = new Recorder({ file, peaks, clock, log: { info: () => {}, warn, error: () => {} }, endsAs: 'ready' })
  return { clock, recorder, warnings }
}

type Playing = { voice: RecordedVoice; samples: Int16Array; atMs: number }

/** Plays voices as frames of 20 ms, each written when it ends. `lateMs` returns each frame's delay. */
function play(clock: TestClock, ms: number, playing: readonly Playing[], lateMs: (atMs: number) => number = () => 0) {
  const frames = playing.flatMap(({ voice, samples, atMs }) =>
    Array.from({ length: Math.ceil(samples.length / frame) }, (_, i) => {
      const endMs = atMs + (i + 1) * 20
      return { voice, samples: samples.subarray(i * frame, (i + 1) * frame), dueMs: endMs + lateMs(endMs) }
    }),
  )
  const startMs = clock.monotonicMs()
  for (let atMs = 0; atMs <= ms; atMs += 20) {
    clock.pass(startMs + atMs - clock.monotonicMs())
    for (const { voice, samples, dueMs } of frames)
      if (dueMs > atMs - 20 && dueMs <= atMs) voice.write(samples, startMs + dueMs)
  }
}

/** Finds a clip on one side by correlation. Returns its position in ms, and the likeness there. */
function find(clip: Int16Array, side: Int16Array): { ms: number; likeness: number } {
  const { at, likeness } = placeOf(clip, side, perMs)
  return { ms: at / perMs, likeness }
}

t.test('the recording has the caller on the left and the agent on the right, at their times in the call', async (t) => {
  const file = new MemoryFile()
  const { clock, recorder } = record(file)
  play(clock, 12_000, [
    { voice: recorder.caller, samples: caller, atMs: 1000 },
    { voice: recorder.agent, samples: agent, atMs: 7000 },
  ])
  t.equal(await recorder.close(), 12_000)
  const { left, right, ms } = file.sides
  t.equal(ms, 12_000)
  t.match(find(caller, left), { ms: 1000 })
  t.ok(find(caller, left).likeness > 0.999)
  t.match(find(agent, right), { ms: 7000 })
  t.ok(find(agent, right).likeness > 0.999)
  t.ok(find(agent, left).likeness < 0.3, 'neither side has the other')
  t.ok(file.isClosed)
})

t.test('a caller whose audio arrives in bursts is recorded without gaps and at the right times', async (t) => {
  const file = new MemoryFile()
  const { clock, recorder } = record(file)
  const stalled = (atMs: number) => (atMs > 2000 && atMs < 2600 ? 2600 - atMs : 0)
  play(clock, 6000, [{ voice: recorder.caller, samples: caller, atMs: 500 }], stalled)
  await recorder.close()
  const found = find(caller, file.sides.left)
  t.equal(found.ms, 500)
  t.ok(found.likeness > 0.999)
})

t.test(
  'if a caller sent no audio for a while, the recording is in time again two seconds after the audio resumes',
  async (t) => {
    const file = new MemoryFile()
    const { clock, recorder } = record(file)
    play(clock, 16_000, [
      { voice: recorder.caller, samples: agent, atMs: 0 },
      { voice: recorder.caller, samples: caller, atMs: 4500 },
      { voice: recorder.caller, samples: agent, atMs: 8020 },
    ])
    await recorder.close()
    const found = find(agent, file.sides.left.subarray(7000 * perMs))
    t.ok(Math.abs(found.ms - 1020) <= 20, `${found.ms}`)
  },
)

t.test("after an interruption of the stream the caller's audio is recorded at the right time again", async (t) => {
  const file = new MemoryFile()
  const { clock, recorder } = record(file)
  play(clock, 4000, [{ voice: recorder.caller, samples: caller, atMs: 0 }])
  clock.pass(600)
  recorder.caller.restart()
  play(clock, 4000, [{ voice: recorder.caller, samples: agent, atMs: 0 }])
  await recorder.close()
  t.equal(find(agent, file.sides.left).ms, 4600)
})

t.test("joined people are recorded on the agent's channel", async (t) => {
  const file = new MemoryFile()
  const { clock, recorder } = record(file)
  play(clock, 5000, [
    { voice: recorder.joiner(), samples: caller, atMs: 300 },
    { voice: recorder.joiner(), samples: agent, atMs: 1500 },
  ])
  await recorder.close()
  const { right } = file.sides
  t.equal(find(caller, right).ms, 300)
  t.equal(find(agent, right).ms, 1500)
})

t.test('a recording on disk lacks at most the last seven seconds, and is readable before its end', async (t) => {
  const file = new MemoryFile()
  const { clock, recorder } = record(file)
  play(clock, 4000, [{ voice: recorder.caller, samples: caller, atMs: 0 }])
  for (let ms = 4000; ms < 20_000; ms += 1000) {
    await new Promise(setImmediate)
    t.ok(file.sides.ms >= ms - 7000, `${ms}: ${file.sides.ms}`)
    clock.pass(1000)
  }
  t.ok(file.appends >= 4 && file.appends <= 6)
  t.equal(find(caller, file.sides.left).ms, 0)
  t.equal(await recorder.close(), 20_000)
})

t.test('audio that arrives too late or too early is not recorded, and shifts no other audio', async (t) => {
  const file = new MemoryFile()
  const { clock, recorder } = record(file)
  const startMs = clock.monotonicMs()
  clock.pass(5000)
  recorder.agent.write(agent.subarray(0, 100 * perMs), startMs + 500)
  const early = recorder.joiner()
  early.write(agent.subarray(0, 100 * perMs), startMs + 60_000)
  clock.pass(5000)
  const { left, right } = (await recorder.close(), file.sides)
  t.equal(left.length, 10_000 * perMs)
  t.notOk(right.some((sample) => sample !== 0))
})

t.test('if the file fails or is too slow, the recording fails and its memory stays bounded', async (t) => {
  const failing = new MemoryFile()
  const { clock, recorder, warnings } = record(failing)
  failing.append = () => Promise.reject(new Error('disk full'))
  clock.pass(5000)
  await new Promise(setImmediate)
  t.equal(await recorder.close(), null)
  t.same(warnings, ['recording failed'])
  t.ok(failing.isClosed)

  const broken = new MemoryFile()
  broken.replaceStart = () => Promise.reject(new Error('disk broken'))
  t.equal(await record(broken).recorder.close(), null)
  t.ok(broken.isClosed)

  const slow = new MemoryFile()
  let free: () => void = () => {}
  const held = new Promise<void>((resolve) => (free = resolve))
  slow.append = () => held
  const other = record(slow)
  for (let i = 0; i < 20; i++) other.clock.pass(5000)
  t.same(other.warnings, ['recording failed'])
  free()
  t.equal(await other.recorder.close(), null)
})

t.test('if the process was blocked for a minute, the recording has silence for this minute', async (t) => {
  const file = new MemoryFile()
  const { clock, recorder } = record(file)
  clock.pass(40_000)
  play(clock, 4000, [{ voice: recorder.caller, samples: caller, atMs: 0 }])
  t.equal(await recorder.close(), 44_000)
  t.equal(find(caller, file.sides.left).ms, 40_000)
})

/** The peaks of 20 ms, computed from the recording sample by sample. */
function peaksOfSides({ left, right }: MemoryFile['sides']): number[] {
  const rows = Array.from({ length: Math.ceil(left.length / frame) }, (_, pixel) =>
    [left, right].flatMap((side) => {
      const samples = side.subarray(pixel * frame, (pixel + 1) * frame)
      return [Math.floor(Math.min(...samples) / 256), Math.floor(Math.max(...samples) / 256)]
    }),
  )
  return rows.flat()
}

t.test('the peaks of a recording are those of its samples, in the format of audiowaveform', async (t) => {
  const [file, peaks] = [new MemoryFile(), new MemoryFile()]
  const { clock, recorder } = record(file, peaks)
  play(clock, 12_000, [
    { voice: recorder.caller, samples: caller, atMs: 1000 },
    { voice: recorder.agent, samples: agent, atMs: 7000 },
  ])
  clock.pass(7)
  t.equal(await recorder.close(), 12_007)
  const { sides } = file
  const header = new DataView(peaks.bytes.buffer, peaks.bytes.byteOffset)
  const words = Array.from({ length: 6 }, (_, at) => header.getInt32(at * 4, true))
  t.same(words, [2, 1, 16_000, 320, 601, 2], 'the last pixel has less audio')
  const pixels = [...new Int8Array(peaks.bytes.subarray(24))]
  t.same(pixels, peaksOfSides(sides))
  const loudest = (channel: number, fromMs: number, toMs: number) =>
    Math.max(...pixels.slice((fromMs / 20) * 4, (toMs / 20) * 4).filter((_, at) => at % 4 === 2 * channel + 1))
  t.equal(loudest(0, 0, 980), 0, 'the caller is silent before the speech')
  t.equal(loudest(0, 1000, 6000), Math.floor(Math.max(...caller) / 256))
  t.equal(loudest(1, 0, 6980), 0)
  t.equal(loudest(1, 7000, 12_000), Math.floor(Math.max(...agent.subarray(0, 5000 * perMs)) / 256))
  t.ok(peaks.isClosed)
})

t.test('if the file of the waveform peaks fails or is too slow, the recording goes on', async (t) => {
  const broken = new MemoryFile()
  broken.append = () => Promise.reject(new Error('disk full'))
  const slow = new MemoryFile()
  let free: () => void = () => {}
  const held = new Promise<void>((resolve) => (free = resolve))
  slow.append = () => held
  for (const peaks of [broken, slow]) {
    const { clock, recorder, warnings } = record(new MemoryFile(), peaks)
    for (let i = 0; i < 80; i++) {
      clock.pass(5000)
      await new Promise(setImmediate)
    }
    free()
    t.equal(await recorder.close(), 400_000)
    t.same(warnings, ['the peaks of a recording could not be written'])
    t.ok(peaks.isClosed)
  }
})
