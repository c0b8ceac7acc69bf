/**
 * Recorded audio for far ends. A clip is encoded once for each stream format, as base64 frames of 20 ms. All calls with
 * the same clip send the same strings, so no frame is encoded during a call.
 */
import { FrameResampler } from '../../audio/frame-resampler.ts'
import { type LineCodec, l16, pcma, pcmu } from '../../audio/line-codec.ts'

export const frameMs = 20

export type LineFormat = { encoding: 'PCMU' | 'PCMA' | 'L16'; sampleRateHz: 8000 | 16_000 }
/** Mono samples with 16 bits. */
export type Speech = { samples: Int16Array; sampleRateHz: number }

export const codecs: Readonly<Record<LineFormat['encoding'], LineCodec>> = { PCMU: pcmu, PCMA: pcma, L16: l16 }

/** The rate between two bridged legs, as on a telephone line. */
export const lineRateHz = 8000

export const samplesOfFrame = ({ sampleRateHz }: Pick<LineFormat, 'sampleRateHz'>) => (sampleRateHz * frameMs) / 1000
export const bytesOfFrame = (format: LineFormat) => samplesOfFrame(format) * codecs[format.encoding].bytesPerSample

export class Clip {
  readonly frameCount: number
  readonly #speech: Speech
  readonly #sampled = new Map<number, Int16Array>()
  readonly #encoded = new Map<string, readonly string[]>()

  constructor(speech: Speech) {
    this.#speech = speech
    this.frameCount = Math.ceil((speech.samples.length / speech.sampleRateHz) * (1000 / frameMs))
  }

  /** Returns frame `at` at 8 kHz, for the other leg in a bridge. */
  samplesAt(at: number): Int16Array {
    const length = samplesOfFrame({ sampleRateHz: lineRateHz })
    return this.#samples(lineRateHz).subarray(at * length, (at + 1) * length)
  }

  /** Returns all frames as base64. The last frame is filled up with silence. */
  frames(format: LineFormat): readonly string[] {
    const key = `${format.encoding} ${format.sampleRateHz}`
    let frames = this.#encoded.get(key)
    if (!frames) {
      frames = encodeFrames(this.#samples(format.sampleRateHz), format)
      this.#encoded.set(key, frames)
    }
    return frames
  }

  /** Returns the samples at a rate, filled up to whole frames. */
  #samples(sampleRateHz: 8000 | 16_000): Int16Array {
    let samples = this.#sampled.get(sampleRateHz)
    if (!samples) {
      samples = new Int16Array(this.frameCount * samplesOfFrame({ sampleRateHz }))
      const converted = new FrameResampler(this.#speech.sampleRateHz, sampleRateHz).convert(this.#speech.samples)
      samples.set(converted.subarray(0, samples.length))
      this.#sampled.set(sampleRateHz, samples)
    }
    return samples
  }
}

function encodeFrames(samples: Int16Array, format: LineFormat): string[] {
  const length = samplesOfFrame(format)
  const bytes = Buffer.alloc(bytesOfFrame(format))
  const frames: string[] = []
  for (let at = 0; at < samples.length; at += length) {
    codecs[format.encoding].encode(samples.subarray(at, at + length), bytes)
    frames.push(bytes.toString('base64'))
  }
  return frames
}

const silences = new Map<LineFormat['encoding'], Map<number, string>>()

/** Returns one silent frame as base64. */
export function silenceOf(format: LineFormat): string {
  const rates = silences.get(format.encoding) ?? new Map<number, string>()
  silences.set(format.encoding, rates)
  const cached = rates.get(format.sampleRateHz)
  if (cached !== undefined) return cached
  const [frame = ''] = encodeFrames(new Int16Array(samplesOfFrame(format)), format)
  rates.set(format.sampleRateHz, frame)
  return frame
}

/** Makes the tone after which a voicemail box begins to record: 1 kHz for 500 ms. */
export function beep(): Clip {
  const samples = new Int16Array(lineRateHz / 2)
  for (let at = 0; at < samples.length; at++) samples[at] = 12_000 * Math.sin((2 * Math.PI * 1000 * at) / lineRateHz)
  return new Clip({ samples, sampleRateHz: lineRateHz })
}
