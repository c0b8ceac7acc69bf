/** Tests the waveform peaks of audio with a known envelope, given as a whole and in chunks. */
import t from 'tap'
import { arePeaksOf, PeakMeter, peaksHeader, peaksHeaderBytes } from '../../audio/peaks.ts'

const layout = { sampleRateHz: 16_000, samplesPerPixel: 320, channels: 2 }

/** A tone whose period divides a pixel, so each pixel has its crest and its trough. */
function tone(pixels: number, amplitudeOf: (pixel: number) => number): Int16Array {
  return Int16Array.from({ length: pixels * 320 }, (_, at) =>
    Math.round(amplitudeOf(Math.floor(at / 320)) * Math.sin((2 * Math.PI * at) / 32)),
  )
}

function interleaved(left: Int16Array, right: Int16Array): Int16Array {
  return Int16Array.from({ length: left.length * 2 }, (_, at) => (at % 2 === 0 ? left : right)[at >> 1]!)
}

t.test('waveform peaks follow the envelope of a tone in each channel', (t) => {
  const rising = (pixel: number) => pixel * 256
  const falling = (pixel: number) => 32_512 - pixel * 256
  const meter = new PeakMeter(layout)
  const pixels = new Int8Array(meter.add(interleaved(tone(127, rising), tone(127, falling))).buffer)
  for (let pixel = 0; pixel < 127; pixel++)
    t.same([...pixels.subarray(pixel * 4, pixel * 4 + 4)], [0 - pixel, pixel, pixel - 127, 127 - pixel], `${pixel}`)
  t.equal(meter.pixels, 127)
  t.equal(meter.end().length, 0)
  t.end()
})

t.test('if all samples in a pixel have the same sign, so do its greatest and least peak', (t) => {
  const meter = new PeakMeter({ ...layout, samplesPerPixel: 2 })
  t.same([...new Int8Array(meter.add(Int16Array.of(-32_768, -1, 32_767, 255)).buffer)], [-128, 127, -1, 0])
  t.end()
})

t.test('audio in pieces of any length has the same waveform peaks; the last pixel may cover fewer samples', (t) => {
  const samples = Int16Array.from({ length: 2 * 1_000 }, (_, at) => ((at * 7919) % 60_000) - 30_000)
  const whole = new PeakMeter(layout)
  const expected = [...whole.add(samples), ...whole.end()]
  t.equal(expected.length, 4 * 4)
  for (const frames of [1, 7, 319, 320, 321, 999]) {
    const meter = new PeakMeter(layout)
    const found: number[] = []
    for (let at = 0; at < samples.length; at += frames * 2)
      found.push(...meter.add(samples.subarray(at, at + frames * 2)))
    found.push(...meter.end())
    t.same([found, meter.pixels], [expected, 4], `${frames}`)
  }
  t.end()
})

t.test('waveform peaks are complete if their length and their header agree with the audio', (t) => {
  const peaks = Buffer.concat([peaksHeader(layout, 4), new Uint8Array(16)])
  for (const [frames, isComplete] of [
    [960, false],
    [961, true],
    [1_280, true],
    [1_281, false],
  ] as const)
    t.equal(arePeaksOf(peaks, layout, frames), isComplete, `${frames}`)
  t.notOk(arePeaksOf(Buffer.concat([peaksHeader(layout, 0), new Uint8Array(16)]), layout, 1_280), 'still growing')
  t.notOk(arePeaksOf(new Uint8Array(3), layout, 0))
  t.ok(arePeaksOf(peaksHeader(layout, 0), layout, 0))
  t.equal(peaksHeader(layout, 0).length, peaksHeaderBytes)
  t.end()
})
