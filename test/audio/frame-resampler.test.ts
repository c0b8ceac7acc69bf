import t from 'tap'
import { FrameResampler } from '../../audio/frame-resampler.ts'

const rates = [8000, 16_000, 24_000, 44_100, 48_000]

t.test('a resampled tone keeps its length and quality, for chunks of any size', (t) => {
  for (const fromHz of rates)
    for (const toHz of rates) {
      const input = tone(fromHz, 1000, fromHz)
      const output = converted(new FrameResampler(fromHz, toHz), input, [1, 7, 160, 960, 3000])
      t.equal(Math.round(output.length / 10), Math.round(toHz / 10), `${fromHz} to ${toHz}: as long as the input`)
      t.ok(signalToNoiseDb(output, 1000, toHz) > 60, `${fromHz} to ${toHz}: ${signalToNoiseDb(output, 1000, toHz)} dB`)
      t.same(output, converted(new FrameResampler(fromHz, toHz), input, [fromHz]), 'the same in one piece')
    }
  t.end()
})

t.test('frequencies that the lower rate cannot carry are filtered out', (t) => {
  for (const [fromHz, toneHz] of [
    [48_000, 10_000],
    [24_000, 9500],
    [48_000, 15_000],
  ] as const) {
    const output = converted(new FrameResampler(fromHz, 16_000), tone(fromHz, toneHz, fromHz), [480])
    const loudest = output.slice(1000, -1000).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
    t.ok(loudest < 20, `${toneHz} Hz at ${fromHz}: ${loudest} of 16000`)
  }
  t.end()
})

t.test('loud input is clipped and does not wrap around', (t) => {
  const square = Int16Array.from({ length: 4800 }, (_, at) => (Math.floor(at / 48) % 2 ? 32_767 : -32_768))
  const output = converted(new FrameResampler(48_000, 16_000), square, [960])
  for (let at = 100; at < output.length - 1; at++)
    if (Math.abs(output[at]!) > 32_000) t.ok(output[at]! * output[at + 1]! > -(2 ** 30), 'no jump over the whole range')
  t.end()
})

function tone(rateHz: number, toneHz: number, samples: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, at) => 16_000 * Math.sin((2 * Math.PI * toneHz * at) / rateHz))
}

function converted(resampler: FrameResampler, input: Int16Array, sizes: readonly number[]): number[] {
  const output: number[] = []
  for (let at = 0, turn = 0; at < input.length; turn++) {
    const size = sizes[turn % sizes.length] as number
    output.push(...resampler.convert(input.subarray(at, at + size)))
    at += size
  }
  return output
}

/**
 * Returns the signal-to-noise ratio: a sine with this frequency is fitted to the middle samples, and the rest is noise.
 */
function signalToNoiseDb(samples: readonly number[], toneHz: number, rateHz: number): number {
  const middle = samples.slice(Math.floor(rateHz * 0.1), Math.floor(rateHz * 0.9))
  const angle = (at: number) => (2 * Math.PI * toneHz * at) / rateHz
  const scale = 2 / middle.length
  const a = scale * middle.reduce((sum, sample, at) => sum + sample * Math.sin(angle(at)), 0)
  const b = scale * middle.reduce((sum, sample, at) => sum + sample * Math.cos(angle(at)), 0)
  const noise = middle.reduce(
    (sum, sample, at) => sum + (sample - a * Math.sin(angle(at)) - b * Math.cos(angle(at))) ** 2,
    0,
  )
  return 10 * Math.log10((a * a + b * b) / 2 / (noise / middle.length))
}
