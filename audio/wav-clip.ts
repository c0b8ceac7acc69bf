/** Converts a WAV to a clip for a call: mono PCM16 at the call's rate. */
import { AudioError } from './error.ts'
import type { Recording } from './format.ts'
import { FrameResampler } from './frame-resampler.ts'
import { convertChannels, decodeSamples, frameBytes, isSampleEncoding } from './pcm.ts'
import { recogniseRecording } from './recognise.ts'
import type { Steps } from './steps.ts'

/**
 * Only these rates are accepted. The resampling filter's memory depends on the ratio between two rates, and it is small
 * for these rates.
 */
const ratesHz = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]
/** Audio longer than this is cut. At 16 kHz this is 10 MB. */
const durationMaxS = 300
/** One step converts this many seconds of audio. */
const stepS = 1

/** Converts the file. Throws AudioError if the audio is damaged, unsupported or not a WAV. */
export function* wavClip(body: Uint8Array, rateHz: number): Steps<Int16Array> {
  const recording = yield* recogniseRecording([body], null)
  const { encoding, sampleRateHz, channels } = formatOf(recording)
  const bytesPerFrame = frameBytes({ encoding, channels })
  const frames = Math.min(recording.dataBytes / bytesPerFrame, durationMaxS * sampleRateHz)
  const clip = new Int16Array(Math.ceil((frames * rateHz) / sampleRateHz) + 1)
  const resampler = sampleRateHz === rateHz ? null : new FrameResampler(sampleRateHz, rateHz)
  let length = 0
  for (let from = 0; from < frames; from += stepS * sampleRateHz) {
    yield
    const to = Math.min(from + stepS * sampleRateHz, frames)
    const { dataOffset } = recording
    const bytes = body.subarray(dataOffset + from * bytesPerFrame, dataOffset + to * bytesPerFrame)
    const mono = samplesOf(convertChannels(decodeSamples(bytes, encoding), channels, 1))
    const piece = resampler === null ? mono : resampler.convert(mono)
    clip.set(piece.subarray(0, clip.length - length), length)
    length = Math.min(length + piece.length, clip.length)
  }
  if (length === 0) throw new AudioError('empty', 'The audio is too short to be heard.')
  return clip.subarray(0, length)
}

function formatOf({ format }: Recording) {
  const { container, encoding, sampleRateHz, channels } = format
  if (container !== 'wav' || !isSampleEncoding(encoding)) throw new AudioError('unsupported', 'The audio is not a WAV.')
  if (!ratesHz.includes(sampleRateHz))
    throw new AudioError('unsupported', `The WAV has ${sampleRateHz} Hz, and not one of ${ratesHz.join(', ')}.`)
  return { encoding, sampleRateHz, channels }
}

function samplesOf(values: Float32Array): Int16Array {
  return Int16Array.from(values, (value) => Math.round(Math.max(-1, Math.min(1, value)) * 32_767))
}
