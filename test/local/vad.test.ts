/** Voice activity detection of many streams by one real child. The figures are printed. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Vad as VadPort, vadFrameSamples } from '../../domain/conversation/vad.ts'
import { openVad } from '../../providers/local/vad.ts'
import { createLocalVad } from '../../providers/local/vad-process.ts'
import { systemClock } from '../../runtime/clock.ts'
import { type FixtureName, spoken } from '../speech/fixtures.ts'
import { speechAt } from '../speech/samples.ts'
import { eventually, isRunning } from './setup.ts'

const names = Object.keys(spoken) as FixtureName[]
const frameMs = 32
/** Speech is found this soon after a recording begins that has no silence in front. */
const onsetMsMax = 200

function open(t: { teardown: (run: () => Promise<void>) => unknown }, idleMs = 60_000) {
  const pids: number[] = []
  const ended: number[] = []
  const info = (fields: { childPid?: number }, message: string) => {
    if (message === 'speech child started') pids.push(fields.childPid!)
    if (message === 'speech child ended') ended.push(fields.childPid!)
  }
  const vad = createLocalVad({ idleMs, clock: systemClock, log: { info, warn: () => {}, error: () => {} } })
  t.teardown(() => vad.close())
  return { vad, pids, ended }
}

/** Pushes in steps of 20 ms and answers one probability for each whole frame. */
async function probabilities(vad: VadPort, samples: Int16Array, stepSamples = 320): Promise<number[]> {
  const found: number[] = []
  const stream = vad.open((probability) => found.push(probability))
  const count = Math.floor(samples.length / vadFrameSamples)
  for (let at = 0; at < samples.length; at += stepSamples) {
    stream.push(samples.subarray(at, at + stepSamples))
    const waitsMax = Math.floor(at / vadFrameSamples) - 20
    if (found.length < waitsMax) await eventually(() => found.length >= waitsMax)
  }
  await eventually(() => found.length >= count)
  stream.close()
  return found
}

t.test('streams that share a run of the model get what a stream alone gets', async (t) => {
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

t.test('words after a long silence are speech, wherever the frames begin', async (t) => {
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

/** The longest gap within speech, in frames. */
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

t.test('a child that is killed is replaced, and each frame is answered once', async (t) => {
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

t.test('a child that still loads its model loses no frame', async (t) => {
  const samples = await speechAt('privacy-prompt', 16_000)
  const cold = await probabilities(open(t).vad, samples, samples.length)
  const { vad } = open(t)
  await probabilities(vad, new Int16Array(vadFrameSamples))
  const warm = await probabilities(vad, samples)
  t.ok(cold.length > 64, 'more than the frames that usually wait')
  t.ok(cold.some((probability) => probability > 0.9))
  t.ok(cold.every((probability, frame) => Math.abs(probability - warm[frame]!) < 1e-3))
})

t.test('frames that the child is too late for are answered like the frame before, so that time goes on', async (t) => {
  const { vad } = open(t)
  const found: number[] = []
  const stream = vad.open((probability) => found.push(probability))
  stream.push(new Int16Array(600 * vadFrameSamples))
  t.same(found, new Array(88).fill(0), 'more than 16 s do not wait')
  t.ok(await eventually(() => found.length === 600))
})

t.test('no frame waits more than two seconds for a child that cannot start', async (t) => {
  const { vad, pids, ended } = open(t)
  const found: number[] = []
  const stream = vad.open((probability) => found.push(probability))
  process.kill(pids[0]!, 'SIGKILL')
  t.ok(await eventually(() => ended.length === 1))
  stream.push(new Int16Array(100 * vadFrameSamples))
  t.same(found, new Array(36).fill(0))
})

t.test('the child ends when there was no stream for a while, and the next stream starts another', async (t) => {
  const { vad, pids } = open(t, 50)
  const samples = await speechAt('tt-weasels', 16_000)
  await probabilities(vad, samples)
  t.ok(await eventually(() => !isRunning(pids[0]!)))
  const again = await probabilities(vad, samples)
  t.ok(again.some((probability) => probability > 0.9))
  t.equal(pids.length, 2)
})

t.test('100 streams in real time', { timeout: 60_000 }, async (t) => {
  const { vad, pids } = open(t)
  const samples = await speechAt('privacy-prompt', 16_000)
  await probabilities(vad, samples)
  const latencies: number[] = []
  let answered = 0
  const streams = Array.from({ length: 100 }, () => {
    const dueMs: number[] = []
    const stream = vad.open(() => {
      answered++
      latencies.push(performance.now() - dueMs.shift()!)
    })
    return { stream, dueMs, pushed: 0 }
  })
  const before = cpuMs(pids[0]!)
  const ownBefore = process.cpuUsage()
  const startedMs = performance.now()
  const durationMs = 3000
  for (let tick = 0; tick * 20 < durationMs; tick++) {
    for (const each of streams) {
      const at = (tick * 320) % 48_000
      const whole = Math.floor(each.pushed / vadFrameSamples)
      each.pushed += 320
      if (Math.floor(each.pushed / vadFrameSamples) > whole) each.dueMs.push(performance.now())
      each.stream.push(samples.subarray(at, at + 320))
    }
    const waitMs = startedMs + (tick + 1) * 20 - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
  const expected = 100 * Math.floor(durationMs / frameMs)
  t.ok(await eventually(() => answered === expected))
  const elapsedMs = performance.now() - startedMs
  const own = process.cpuUsage(ownBefore)
  const share = (cpu: number) => `${((100 * cpu) / elapsedMs).toFixed(1)} %`
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(part * sorted.length)]!.toFixed(1)
  t.comment(
    `child ${share(cpuMs(pids[0]!) - before)} of a core, parent ${share((own.user + own.system) / 1000)}; ` +
      `probability after ${at(0.5)} ms (median), ${at(0.99)} ms (p99)`,
  )
  t.ok(sorted[Math.floor(sorted.length / 2)]! < 60)
})

/** User and system time, from fields 14 and 15 of proc_pid_stat(5); a tick is 10 ms. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
