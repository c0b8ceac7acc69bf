/** One real child process detects voice activity for many streams. */
import t from 'tap'
import { vadFrameSamples } from '../../domain/ports/vad.ts'
import { openVad } from '../../providers/local/vad/vad.ts'
import { type FixtureName, spoken } from '../speech/fixtures.ts'
import { speechAt } from '../speech/samples.ts'
import { eventually, isRunning } from './setup.ts'
import { open, probabilities } from './vad-streams.ts'

const names = Object.keys(spoken) as FixtureName[]
const frameMs = 32
/** If a recording has no silence at its start, speech is found within this time. */
const onsetMsMax = 200

t.test('streams that are batched into one run of the model get the same results as a stream alone', async (t) => {
  const { vad, pids } = open(t)
  const recordings = await Promise.all(names.map((name) => speechAt(name, 16_000)))
  const together = await Promise.all(recordings.map((samples, i) => probabilities(vad, samples, 160 + 100 * i)))
  const alone = await openVad()
  for (const [i, samples] of recordings.entries()) {
    alone.reset()
    const expected: number[] = []
    for (let at = 0; at + vadFrameSamples <= samples.length; at += vadFrameSamples) {
      const frame = Float32Array.from(samples.subarray(at, at + vadFrameSamples), (sample) => sample / 32_768)
      expected.push(await alone.speechProbability(frame))
    }
    t.equal(together[i]!.length, expected.length)
    t.ok(
      expected.every((probability, frame) => Math.abs(probability - together[i]![frame]!) < 1e-3),
      names[i]!,
    )
    t.ok(expected.some((probability) => probability > 0.9))
  }
  t.equal(pids.length, 1)
})

t.test('words after a long silence are detected as speech, wherever the frames begin', async (t) => {
  const { vad } = open(t)
  const [before, after] = await Promise.all([
    speechAt('conf-waitforleader', 16_000),
    speechAt('please-try-call-later', 16_000),
  ])
  const silence = 8 * 16_000
  for (let early = 0; early < vadFrameSamples; early += 64) {
    const words = silence + early + before.length + silence
    const samples = new Int16Array(words + after.length)
    samples.set(before, silence + early)
    samples.set(after, words)
    const found = (await probabilities(vad, samples)).slice(Math.floor(words / vadFrameSamples))
    const first = found.findIndex((probability) => probability >= 0.5)
    t.ok(first >= 0 && first * frameMs <= onsetMsMax, `${early} samples into a frame: speech after ${first} frames`)
    const pauseMs = longestPause(found) * frameMs
    t.ok(pauseMs <= 128, `${early} samples into a frame: a pause of ${pauseMs} ms`)
  }
})

/** Returns the longest gap within speech, in frames. */
function longestPause(found: readonly number[]): number {
  const first = found.findIndex((probability) => probability >= 0.5)
  const last = found.findLastIndex((probability) => probability >= 0.5)
  let longest = 0
  let pause = 0
  for (const probability of found.slice(first, last)) {
    pause = probability < 0.35 ? pause + 1 : 0
    longest = Math.max(longest, pause)
  }
  return longest
}

t.test('a speech detection process that is killed is replaced, and each frame is answered once', async (t) => {
  const { vad, pids } = open(t)
  const samples = await speechAt('privacy-prompt', 16_000)
  await probabilities(vad, samples)
  const found: number[] = []
  const stream = vad.open((probability) => found.push(probability))
  for (let at = 0; at < 16_000; at += 320) stream.push(samples.subarray(at, at + 320))
  process.kill(pids[0]!, 'SIGKILL')
  await eventually(() => !isRunning(pids[0]!))
  for (let at = 16_000; at < 32_000; at += 320) stream.push(samples.subarray(at, at + 320))
  t.ok(await eventually(() => found.length === 62))
  t.equal(pids.length, 2)
  t.ok(
    found.slice(31).some((probability) => probability > 0.9),
    'the new child finds speech',
  )
})

t.test('frames that arrive while the speech detection process loads its model are not lost', async (t) => {
  const samples = await speechAt('privacy-prompt', 16_000)
  const cold = await probabilities(open(t).vad, samples, samples.length)
  const { vad } = open(t)
  await probabilities(vad, new Int16Array(vadFrameSamples))
  const warm = await probabilities(vad, samples)
  t.ok(cold.length > 64, 'more than the frames that usually wait')
  t.ok(cold.some((probability) => probability > 0.9))
  t.ok(cold.every((probability, frame) => Math.abs(probability - warm[frame]!) < 1e-3))
})

t.test("if speech detection is too late for a frame, the frame gets the previous frame's result", async (t) => {
  const { vad } = open(t)
  const found: number[] = []
  const stream = vad.open((probability) => found.push(probability))
  stream.push(new Int16Array(600 * vadFrameSamples))
  t.same(found, new Array(88).fill(0), 'more than 16 s do not wait')
  t.ok(await eventually(() => found.length === 600))
})

t.test('a frame waits at most two seconds for a speech detection process that cannot start', async (t) => {
  const { vad, pids, ended } = open(t)
  const found: number[] = []
  const stream = vad.open((probability) => found.push(probability))
  process.kill(pids[0]!, 'SIGKILL')
  t.ok(await eventually(() => ended.length === 1))
  stream.push(new Int16Array(100 * vadFrameSamples))
  t.same(found, new Array(36).fill(0))
})

t.test('a speech detection process ends if it is idle, and the next stream starts a new process', async (t) => {
  const { vad, pids } = open(t, 50)
  const samples = await speechAt('tt-weasels', 16_000)
  await probabilities(vad, samples)
  t.ok(await eventually(() => !isRunning(pids[0]!)))
  const again = await probabilities(vad, samples)
  t.ok(again.some((probability) => probability > 0.9))
  t.equal(pids.length, 2)
})
