/** The audio in answers is a tone, encoded in the format from the request or the contract. */
import { encodeSamples, isSampleEncoding } from '../audio/pcm.ts'
import { wavHeader } from '../audio/wav.ts'

const toneHz = 440
const loudness = 0.3

/** Returns raw mono samples. Throws UnsupportedFormat for an encoding without plain samples. */
export function tone(encoding: string, sampleRateHz: number, ms: number): Uint8Array {
  if (!isSampleEncoding(encoding)) throw new UnsupportedFormat(encoding)
  const samples = new Float32Array(Math.round((sampleRateHz * ms) / 1000))
  for (let at = 0; at < samples.length; at++) {
    samples[at] = loudness * Math.sin((2 * Math.PI * toneHz * at) / sampleRateHz)
  }
  return encodeSamples(samples, encoding)
}

/** Returns a WAV file with 16-bit mono samples. */
export function toneWav(sampleRateHz: number, ms: number): Uint8Array {
  const samples = tone('pcm_s16le', sampleRateHz, ms)
  const header = wavHeader({ encoding: 'pcm_s16le', sampleRateHz, channels: 1 }, samples.length)
  return Buffer.concat([header, samples])
}

/** A real server also refuses such a format, unless a provider emits the format. */
export class UnsupportedFormat extends Error {
  constructor(format: string) {
    super(`the mock server has no audio or text in the format ${format}`)
    this.name = 'UnsupportedFormat'
  }
}
