import t from 'tap'
import { backgroundClip, backgroundNames } from '../../audio/background.ts'
import { RepeatingClip } from '../../audio/mix.ts'
import { sampleRates } from '../../domain/records/pipeline.ts'

const level = (samples: Int16Array) =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)
const db = (value: number) => 20 * Math.log10(value / 32_768)

function correlation(a: Int16Array, b: Int16Array): number {
  let product = 0
  for (let i = 0; i < a.length; i++) product += a[i]! * b[i]!
  return product / a.length / (level(a) * level(b))
}

t.test('all background clips have the same loudness at each sample rate, and each clip is made once', async (t) => {
  for (const name of backgroundNames)
    for (const rateHz of sampleRates) {
      const startedMs = performance.now()
      const clip = await backgroundClip(name, rateHz)
      const ms = performance.now() - startedMs
      t.equal(clip.length, 8 * rateHz)
      t.ok(
        Math.abs(db(level(clip)) + 38) < 0.5,
        `${name} at ${rateHz}: ${db(level(clip)).toFixed(1)} dB, ${ms.toFixed(0)} ms`,
      )
      t.equal(await backgroundClip(name, rateHz), clip)
    }
})

t.test('background clips differ, and each clip repeats smoothly because its end joins its beginning', async (t) => {
  for (const name of backgroundNames) {
    const clip = await backgroundClip(name, 16_000)
    const steps = Array.from(clip, (sample, i) => Math.abs(sample - clip[(i + 1) % clip.length]!))
    const largest = steps.slice(0, -1).reduce((most, step) => Math.max(most, step), 0)
    t.ok(steps.at(-1)! <= largest, name)
    for (const other of backgroundNames.filter((each) => each !== name))
      t.ok(Math.abs(correlation(clip, await backgroundClip(other, 16_000))) < 0.2, `${name}, ${other}`)
  }
})

t.test('an ambient clip continues from frame to frame at its volume, and repeats without a gap', (t) => {
  const clip = Int16Array.of(100, 200, 300, 400, 500)
  const background = new RepeatingClip(clip, 0.5)
  const frames = Array.from({ length: 3 }, () => new Int16Array(4).fill(1000))
  for (const frame of frames) background.mixInto(frame)
  t.same(
    frames.flatMap((frame) => [...frame]),
    [1050, 1100, 1150, 1200, 1250, 1050, 1100, 1150, 1200, 1250, 1050, 1100],
  )
  const loud = new Int16Array(4).fill(32_700)
  background.mixInto(loud)
  t.same([...loud], [32_767, 32_767, 32_767, 32_750])
  t.end()
})
