/** Makes samples from the frames that the voice's graph predicts, by an inverse short-time Fourier transform. */
import { FourierTransform } from './fourier.ts'
import { pulsesOf } from './pulses.ts'
import { type Bins, type Frames, frameSpectrum } from './spectrum.ts'

export const hibariRateHz = 24_000
/** The samples between two frames' beginnings. */
export const hop = 300
/** The samples in a frame, so four frames overlap. */
const size = 4 * hop
const binCount = size / 2 + 1

/** A periodic Hann window. */
const window = Float64Array.from({ length: size }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / size))
/** With this window a cosine with strength 1 has the magnitude 1 in its bin. */
const pulseScale = 4 / size

export class Waveform {
  readonly #transform = new FourierTransform(size)
  readonly #pulses: readonly [Bins, Bins] = [newBins(), newBins()]
  readonly #spectra: readonly [Bins, Bins] = [newBins(), newBins()]

  /** Returns `hop` samples for each frame, usually between -1 and 1. */
  samplesOf(frames: Frames): Float32Array {
    const count = frames.f0.length
    const pulses = pulsesOf(frames.f0, hop, hibariRateHz)
    const sum = new Float32Array(count * hop + size)
    const weight = new Float32Array(count * hop + size)
    // One complex transform serves two real frames: the first is its real part, the second its imaginary part.
    for (let frame = 0; frame < count; frame += 2) {
      const hasSecond = frame + 1 < count
      const isVoiced = this.#analyse(pulses, frame * hop)
      const [first, second] = this.#spectra
      frameSpectrum(frames, frame, isVoiced ? this.#pulses[0] : null, first)
      if (hasSecond) frameSpectrum(frames, frame + 1, isVoiced ? this.#pulses[1] : null, second)
      else clear(second)
      this.#invert()
      this.#add(sum, weight, frame * hop, hasSecond)
    }
    const samples = sum.subarray(size / 2, size / 2 + count * hop)
    for (let at = 0; at < samples.length; at++) samples[at] = samples[at]! / Math.max(weight[at + size / 2]!, 1e-11)
    return samples
  }

  /** Computes the pulses' spectra in two frames. Returns false if both frames have no pulses. */
  #analyse(pulses: Float32Array, from: number): boolean {
    const { re, im } = this.#transform
    let isVoiced = false
    for (let at = 0; at < size; at++) {
      const scale = window[at]! * pulseScale
      const first = mirrored(pulses, from + at - size / 2)
      const second = mirrored(pulses, from + hop + at - size / 2)
      isVoiced ||= first !== 0 || second !== 0
      re[at] = first * scale
      im[at] = second * scale
    }
    if (isVoiced) {
      this.#transform.run()
      this.#divide()
    }
    return isVoiced
  }

  /** Divides the transformed `first + i second` into the two spectra. */
  #divide(): void {
    const { re, im } = this.#transform
    const [first, second] = this.#pulses
    for (let bin = 0; bin < binCount; bin++) {
      const other = (size - bin) % size
      first.re[bin] = (re[bin]! + re[other]!) / 2
      first.im[bin] = (im[bin]! - im[other]!) / 2
      second.re[bin] = (im[bin]! + im[other]!) / 2
      second.im[bin] = (re[other]! - re[bin]!) / 2
    }
  }

  /** Transforms `first + i second` back. The conjugate's forward transform is the result's conjugate. */
  #invert(): void {
    const { re, im } = this.#transform
    const [first, second] = this.#spectra
    for (const spectrum of this.#spectra) spectrum.im[0] = spectrum.im[binCount - 1] = 0
    for (let bin = 0; bin < binCount; bin++) {
      const other = (size - bin) % size
      re[other] = first.re[bin]! + second.im[bin]!
      im[other] = first.im[bin]! - second.re[bin]!
      re[bin] = first.re[bin]! - second.im[bin]!
      im[bin] = -first.im[bin]! - second.re[bin]!
    }
    this.#transform.run()
  }

  #add(sum: Float32Array, weight: Float32Array, from: number, hasSecond: boolean): void {
    const { re, im } = this.#transform
    for (let at = 0; at < size; at++) {
      const scale = window[at]! / size
      const square = window[at]! * window[at]!
      sum[from + at] = sum[from + at]! + re[at]! * scale
      weight[from + at] = weight[from + at]! + square
      if (!hasSecond) continue
      sum[from + hop + at] = sum[from + hop + at]! - im[at]! * scale
      weight[from + hop + at] = weight[from + hop + at]! + square
    }
  }
}

function newBins(): Bins {
  return { re: new Float64Array(binCount), im: new Float64Array(binCount) }
}

function clear({ re, im }: Bins): void {
  re.fill(0)
  im.fill(0)
}

/** Reads a sample. Before the beginning and after the end, the samples are mirrored. */
function mirrored(samples: Float32Array, at: number): number {
  const last = samples.length - 1
  const inside = at < 0 ? -at : at > last ? 2 * last - at : at
  return samples[inside] ?? 0
}
