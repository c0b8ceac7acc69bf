/** The recorded prompts as samples at any rate. */
import { decodeSamples } from '../../audio/pcm.ts'
import { Resampler } from '../../audio/resample.ts'
import { type FixtureName, readFixture } from './fixtures.ts'

const headBytes = 44

export async function speechAt(name: FixtureName, rateHz: number): Promise<Int16Array> {
  const resampler = await Resampler.create({ channels: 1, fromHz: 8000, toHz: rateHz })
  const first = resampler.process(decodeSamples(readFixture(name).subarray(headBytes), 'pcm_s16le'))
  const rest = resampler.flush()
  resampler.close()
  return Int16Array.from([...first, ...rest], (sample) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))),
  )
}
