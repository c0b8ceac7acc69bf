/** The browser client's resampler: frequencies that pass, frequencies that are filtered out, and no lost samples. */
import t from 'tap'
import { joinSamples } from '../../audio/join.ts'
import { FrameCutter } from '../../console/session/frame-cutter.js'
import { Resampler } from '../../console/session/resampler.js'

const contextRates = [22_050, 32_000, 44_100, 48_000, 96_000]
const sessionRates = [8000, 16_000, 24_000, 48_000]
const pairs = contextRates.flatMap((context) =>
  sessionRates.flatMap((session): [number, number][] => [
    [context, session],
    [session, context],
  ]),
)

/** Resamples in blocks of 128, like an audio worklet. */
function resampled(fromHz: number, toHz: number, samples: Float32Array, block = 128): Float32Array {
  const resampler = new Resampler(fromHz, toHz)
  const parts: Float32Array[] = []
  for (let at = 0; at < samples.length; at += block)
    parts.push(resampler.push(samples.subarray(at, at + block)).slice())
  parts.push(resampler.flush().slice())
  return joinSamples(parts)
}

const tone = (hz: number, rateHz: number, count: number) =>
  Float32Array.from({ length: count }, (_, n) => 0.5 * Math.sin((2 * Math.PI * hz * n) / rateHz))

/** Returns the samples' bytes, because `t.same` would compare a million samples one by one, for a minute. */
const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array) => Buffer.from(buffer, byteOffset, byteLength)

/**
 * Returns the signal-to-noise ratio in dB. The ends do not count, because there the filter also covers the silence
 * around the tone.
 */
function snr(expected: Float32Array, actual: Float32Array, margin: number): number {
  let [signal, noise] = [0, 0]
  for (let n = margin; n < Math.min(expected.length, actual.length) - margin; n++) {
    signal += expected[n]! ** 2
    noise += (expected[n]! - actual[n]!) ** 2
  }
  return 10 * Math.log10(signal / noise)
}

t.test('resampling neither distorts nor shifts a tone, for each pair of sample rates', (t) => {
  for (const [fromHz, toHz] of pairs) {
    const hz = Math.min(fromHz, toHz) * 0.4
    for (const frequency of [100, 1000, hz]) {
      const output = resampled(fromHz, toHz, tone(frequency, fromHz, fromHz / 2))
      const ratio = snr(tone(frequency, toHz, output.length), output, 500)
      t.ok(ratio > 70, `${fromHz} to ${toHz}: ${Math.round(frequency)} Hz has ${ratio.toFixed(1)} dB`)
    }
  }
  t.end()
})

t.test('a tone above half of the lower rate is removed, so it causes no aliasing', (t) => {
  for (const [fromHz, toHz] of pairs.filter(([from, to]) => from > to)) {
    for (const hz of [toHz * 0.51, (fromHz + toHz) / 4, fromHz * 0.49]) {
      const output = resampled(fromHz, toHz, tone(hz, fromHz, fromHz / 2)).subarray(500, -500)
      const peak = output.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
      t.ok(20 * Math.log10(peak / 0.5) < -60, `${fromHz} to ${toHz}: ${Math.round(hz)} Hz leaves ${peak}`)
    }
  }
  t.end()
})

t.test('the resampler loses and adds no samples, for any size of the input blocks', (t) => {
  for (const [fromHz, toHz] of pairs) {
    for (const count of [1, 127, 128, 4409, 44_100]) {
      const input = tone(440, fromHz, count)
      const whole = resampled(fromHz, toHz, input, count)
      t.equal(whole.length, Math.ceil((count * toHz) / fromHz), `${count} samples, ${fromHz} to ${toHz}`)
      t.ok(bytesOf(resampled(fromHz, toHz, input, 61)).equals(bytesOf(whole)), 'in other blocks')
    }
  }
  t.end()
})

t.test('after flush or reset the resampler keeps nothing of earlier audio', (t) => {
  const resampler = new Resampler(44_100, 16_000)
  const input = tone(440, 44_100, 4410)
  const first = [...resampler.push(input), ...resampler.flush()]
  t.same([...resampler.push(input), ...resampler.flush()], first)
  resampler.push(input)
  resampler.reset()
  t.same([...resampler.push(input), ...resampler.flush()], first)
  t.end()
})

t.test('FrameCutter cuts frames of 20 ms with each sample once, and clips loud samples', (t) => {
  const frames: Int16Array[] = []
  const cutter = new FrameCutter(16_000, (frame) => frames.push(frame))
  const samples = Float32Array.from({ length: 1000 }, (_, n) => n / 500 - 0.5)
  for (let at = 0; at < samples.length; at += 128) cutter.push(samples.subarray(at, at + 128))
  t.same(
    frames.map(({ length }) => length),
    [320, 320, 320],
  )
  const expected = [...samples.subarray(0, 960)].map((sample) => Math.round(Math.min(1, sample) * 32_767))
  t.same(
    frames.flatMap((frame) => [...frame]),
    expected,
  )
  t.end()
})
