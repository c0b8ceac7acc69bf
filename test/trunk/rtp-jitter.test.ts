/** Order, losses and delay of speech packets, without a network. */
import t from 'tap'
import { JitterBuffer } from '../../audio/jitter-buffer.ts'
import { likenessOf } from '../audio/likeness.ts'
import { readFixture } from '../speech/fixtures.ts'

const voice = new Int16Array(readFixture('please-try-call-later').slice(44).buffer)
const frameSamples = 160
const packets = Array.from({ length: Math.floor(voice.length / frameSamples) }, (_, n) => ({
  n,
  samples: voice.subarray(n * frameSamples, (n + 1) * frameSamples),
}))

/** Plays packets that arrive in the given ticks. The first timestamps lie just below 2^32. */
function played(
  arrivals: readonly { n: number; tick: number }[],
  more = 20,
): { voice: Int16Array; buffer: JitterBuffer } {
  const buffer = new JitterBuffer()
  const received: number[] = []
  const last = Math.max(...arrivals.map(({ tick }) => tick)) + more
  for (let tick = 0; tick <= last; tick++) {
    for (const { n } of arrivals.filter((arrival) => arrival.tick === tick))
      buffer.push((0xffff_f000 + n * frameSamples) >>> 0, packets[n]!.samples)
    buffer.tick((frame) => received.push(...frame))
  }
  return { voice: Int16Array.from(received), buffer }
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

t.test('RTP packets that arrive in time are played in order, after at most two ticks', (t) => {
  const { voice: received, buffer } = played(packets.map(({ n }) => ({ n, tick: n })))
  const from = received.findIndex((_, at) => at % frameSamples === 0 && received[at + 700] === voice[700])
  t.ok(from >= 0 && from <= 2 * frameSamples, `${from} samples`)
  t.same(received.slice(from, from + packets.length * frameSamples), voice.slice(0, packets.length * frameSamples))
  t.same([buffer.figures.late, buffer.figures.lost, buffer.figures.dropped], [0, 0, 0])
  t.end()
})

t.test('RTP packets that arrive twice or out of order are played once and in order', (t) => {
  const next = seeded(7)
  const arrivals = packets.flatMap(({ n }) => {
    const tick = n + 2 + Math.floor(next() * 3)
    return next() < 0.1
      ? [
          { n, tick },
          { n, tick: tick + 1 },
        ]
      : [{ n, tick }]
  })
  arrivals.unshift({ n: 0, tick: 0 })
  const { voice: received, buffer } = played(arrivals)
  const middle = voice.subarray(frameSamples * 30, frameSamples * 60)
  t.ok(likenessOf(middle, received) > 0.99, String(likenessOf(middle, received)))
  t.ok(received.length <= (packets.length + 25) * frameSamples)
  t.equal(buffer.figures.dropped, 0)
  t.end()
})

t.test('with five percent of lost packets the played speech is mostly like the sent speech', (t) => {
  const next = seeded(3)
  const kept = packets.filter(({ n }) => n === 0 || next() >= 0.05)
  t.ok(kept.length < packets.length)
  const { voice: received, buffer } = played(kept.map(({ n }) => ({ n, tick: n })))
  const likeness = likenessOf(voice.subarray(0, packets.length * frameSamples), received)
  t.ok(likeness > 0.9, String(likeness))
  t.ok(buffer.figures.lost > 0)
  t.end()
})

t.test('a sender whose clock is one percent fast loses no audio, and the delay does not grow', (t) => {
  const buffer = new JitterBuffer()
  let given = 0
  let sent = 0
  for (let tick = 0; tick < 1500; tick++) {
    for (; sent < tick * 1.01; sent++) buffer.push(sent * frameSamples, packets[sent % packets.length]!.samples)
    buffer.tick(() => given++)
  }
  t.equal(buffer.figures.dropped, 0)
  t.ok(sent - given <= 11, `${sent - given} frames wait`)
  t.end()
})

t.test('for a sender at ten times real time the buffered audio is limited', (t) => {
  const buffer = new JitterBuffer()
  let given = 0
  for (let tick = 0, sent = 0; tick < 1000; tick++) {
    for (let n = 0; n < 10; n++) buffer.push(sent++ * frameSamples, packets[0]!.samples)
    buffer.tick(() => given++)
  }
  t.ok(given <= 1000 + 52, `${given} frames in 1000 ticks`)
  t.ok(buffer.figures.dropped > 0)
  t.end()
})

t.test('playback starts anew after a jump of RTP timestamps, and random timestamps do not break the buffer', (t) => {
  const buffer = new JitterBuffer()
  const next = seeded(11)
  let given = 0
  for (let n = 0; n < 5000; n++) {
    buffer.push(Math.floor(next() * 2 ** 32), voice.subarray(0, Math.floor(next() * 800)))
    buffer.tick(({ length }) => (given += length))
  }
  t.ok(given >= 5000 * frameSamples && given <= 5052 * frameSamples)
  const received: number[] = []
  for (let tick = 0; tick < packets.length + 5; tick++) {
    if (tick < packets.length) buffer.push(tick * frameSamples, packets[tick]!.samples)
    buffer.tick((frame) => received.push(...frame))
  }
  t.ok(likenessOf(voice.subarray(8000, 12_000), Int16Array.from(received)) > 0.99)
  t.end()
})
