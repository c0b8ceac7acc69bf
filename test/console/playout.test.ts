/** The browser client's playout: the jitter buffer, and its reports about played audio. */
import t from 'tap'
import { Playout } from '../../console/session/playout.js'

const fromHz = 16_000

/** Makes a simulated audio device, which plays blocks of 128 samples. At 16 kHz one block is 8 ms. */
function device({ toHz = fromHz, latencyMs = 0 } = {}) {
  const marks: { name: string; atMs: number }[] = []
  const output: number[] = []
  const atMs = () => (output.length * 1000) / toHz
  const playout = new Playout({ fromHz, toHz, latencyMs, onPlayed: (name) => marks.push({ name, atMs: atMs() }) })
  const block = new Float32Array(128)
  let untilMs = 0
  return {
    playout,
    marks,
    output,
    /** Plays whole blocks until they cover the sum of all `ms` so far. */
    run: (ms: number) => {
      untilMs += ms
      while (atMs() < untilMs) {
        playout.pull(block)
        output.push(...block)
      }
    },
  }
}

/** Makes a frame with rising samples, so each sample's value shows its position. */
const frame = (number: number, count = 320) =>
  Int16Array.from({ length: count }, (_, i) => 1 + ((number * count + i) % 30_000))
const played = (output: number[]) =>
  output.filter((sample) => sample !== 0).map((sample) => Math.round(sample * 32_768))
const isRamp = (samples: number[]) => samples.every((sample, i) => i === 0 || sample === (samples[i - 1]! % 30_000) + 1)

t.test('playout starts when 60 ms of audio are buffered, and then has no gap', (t) => {
  const { playout, output, run } = device()
  playout.push(frame(0))
  playout.push(frame(1))
  run(16)
  t.ok(output.every((sample) => sample === 0))
  playout.push(frame(2))
  run(60)
  const samples = played(output)
  t.equal(samples.length, 960)
  t.ok(Math.abs(samples[100]! - 101) <= 1)
  t.equal(
    output.findIndex((sample) => sample !== 0),
    256,
    'it begins at once',
  )
  t.end()
})

t.test('an answer that is shorter than 60 ms is played', (t) => {
  const { playout, output, marks, run } = device()
  playout.push(frame(0))
  playout.mark('a:20')
  run(200)
  t.equal(played(output).length, 320)
  t.match(marks, [{ name: 'a:20' }])
  t.end()
})

t.test('jitter of 40 ms causes no gap', (t) => {
  const { playout, output, run } = device()
  let sent = 0
  for (let turn = 0; turn < 50; turn++) {
    // Frames come two at a time, and each pair is up to 40 ms late.
    for (let i = 0; i < 2; i++) playout.push(frame(sent++))
    if (turn === 0) for (let i = 0; i < 2; i++) playout.push(frame(sent++))
    run(turn % 2 === 0 ? 24 : 56)
  }
  const from = output.findIndex((sample) => sample !== 0)
  const to = output.findLastIndex((sample) => sample !== 0)
  t.equal(output.slice(from, to).filter((sample) => sample === 0).length, 0)
  t.equal(playout.holdMs, 60)
  t.end()
})

t.test('late audio raises the playout delay to 200 ms, and steady audio lowers it again', (t) => {
  const { playout, run } = device()
  const holds: number[] = []
  for (let gap = 0; gap < 10; gap++) {
    for (let i = 0; i < 20; i++) playout.push(frame(i))
    run(700)
    holds.push(playout.holdMs)
  }
  t.same(holds, [60, 80, 100, 120, 140, 160, 180, 200, 200, 200])
  for (let i = 0; i < 10; i++) playout.push(frame(i))
  // The stream is steady, and 200 ms ahead.
  for (let i = 0; i < 5000; i++) {
    playout.push(frame(i))
    run(20)
  }
  t.ok(playout.holdMs < 200, `${playout.holdMs}`)
  t.end()
})

t.test('a pause of the agent is not counted as a gap', (t) => {
  const { playout, run } = device()
  for (let turn = 0; turn < 5; turn++) {
    for (let i = 0; i < 20; i++) playout.push(frame(i))
    run(1000)
  }
  t.equal(playout.holdMs, 60)
  t.end()
})

t.test('a mark in the audio is reported when the audio before it was played, at every device sample rate', (t) => {
  for (const toHz of [8000, 16_000, 22_050, 44_100, 48_000]) {
    const { playout, marks, run } = device({ toHz })
    for (let i = 1; i <= 50; i++) {
      playout.push(frame(i))
      if (i % 5 === 0) playout.mark(`a:${i * 20}`)
    }
    run(1200)
    t.same(
      marks.map(({ name }) => name),
      Array.from({ length: 10 }, (_, i) => `a:${(i + 1) * 100}`),
      `${toHz} Hz`,
    )
    const blockMs = (128 * 1000) / toHz
    for (const { name, atMs } of marks) {
      const due = Number(name.slice(2))
      t.ok(atMs >= due && atMs <= due + 2 * blockMs, `${toHz} Hz: ${name} at ${atMs}`)
    }
  }
  t.end()
})

t.test('the latency of the audio device delays the report of a mark in the audio', (t) => {
  const { playout, marks, run } = device({ latencyMs: 40 })
  for (let i = 0; i < 5; i++) playout.push(frame(i))
  playout.mark('a:100')
  run(136)
  t.same(marks, [])
  run(16)
  t.match(marks, [{ name: 'a:100' }])
  t.end()
})

t.test('`clear` drops audio that was not played, and reports the position up to which the agent was played', (t) => {
  const { playout, output, marks, run } = device()
  for (let i = 1; i <= 20; i++) {
    playout.push(frame(i))
    if (i % 5 === 0) playout.mark(`a:${i * 20}`)
  }
  run(240)
  t.same(playout.clear(), { mark: 'a:200', playedMs: 40 })
  const before = played(output).length
  t.equal(before, 240 * 16)
  run(400)
  t.equal(played(output).length, before, 'nothing follows')
  t.same(
    marks.map(({ name }) => name),
    ['a:100', 'a:200'],
    'nor do the marks that were dropped',
  )
  t.same(playout.clear(), { mark: 'a:200', playedMs: 40 })
  for (let i = 0; i < 10; i++) playout.push(frame(i))
  playout.mark('b:100')
  run(100)
  t.same(playout.clear(), { mark: 'a:200', playedMs: 40 + 104 })
  t.end()
})

t.test('`clear` before the first mark in the audio reports how many milliseconds were played', (t) => {
  const { playout, run } = device()
  t.same(playout.clear(), { mark: null, playedMs: 0 })
  for (let i = 0; i < 10; i++) playout.push(frame(i))
  run(80)
  t.same(playout.clear(), { mark: null, playedMs: 80 })
  t.end()
})

t.test('each sample that was sent is played once', (t) => {
  const { playout, output, run } = device()
  const loud = (i: number) => Int16Array.from(frame(i), (sample) => 1000 + (sample % 20_000))
  const sent: number[] = []
  for (let i = 0; i < 20; i++) {
    playout.push(loud(i))
    sent.push(...loud(i))
  }
  run(500)
  const from = output.findIndex((sample) => sample !== 0)
  const samples = output.slice(from, from + sent.length).map((sample) => sample * 32_768)
  // Samples near the jumps from the highest to the lowest value are not compared, because no filter passes a jump.
  const calm = sent.flatMap((sample, i) => (i > 100 && Math.abs(sample - (sent[i - 40] ?? 0)) < 100 ? [i] : []))
  t.ok(calm.length > 3000)
  t.ok(calm.every((i) => Math.abs(samples[i]! - sent[i]!) < 400))
  t.equal(
    output.slice(from).findIndex((sample) => sample === 0),
    sent.length,
  )
  t.ok(isRamp([...frame(0), ...frame(1)]))
  t.end()
})

t.test("if a server sends far ahead of time, the page's memory does not grow", (t) => {
  const { playout } = device()
  for (let i = 0; i < 1000; i++) playout.push(frame(i))
  t.ok(playout.bufferedMs < 5100)
  t.end()
})
