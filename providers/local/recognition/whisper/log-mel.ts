/**
 * Computes Whisper's input: the energy in 80 bands on the mel scale as a logarithm, 100 times a second. It follows
 * `log_mel_spectrogram` in OpenAI's whisper/audio.py, with mel bands as librosa computes them.
 *
 * The Fourier transform has 400 points, so it is split into 16 transforms with 25 points and 25 with 16 points. It
 * transforms complex numbers. Two real frames are its real and its imaginary part, and are separated afterwards.
 */
import { speechRateHz } from '../speech-model.ts'

export const melBands = 80
export const framesPerSecond = 100
const frameSamples = speechRateHz / framesPerSecond
const points = 400
const [outerPoints, innerPoints] = [16, 25]
const bins = points / 2 + 1
const energyMin = 1e-10
/** The lowest value is this far below the greatest value, as a log10. */
const rangeBelow = 8
/** Slaney's mel scale: linear up to 1000 Hz, logarithmic above. */
const linear = { hertzMax: 1000, melMax: 15, hertzPerMel: 200 / 3 }
const logarithmic = Math.log(6.4) / 27

/**
 * Returns [melBands, frames] values. If the speech is shorter than the frames, silence follows it. Longer speech is
 * cut.
 */
export function logMel(samples: Float32Array, frames: number): Float32Array {
  const values = new Float32Array(melBands * frames).fill(Math.log10(energyMin))
  const spoken = Math.min(frames, Math.ceil((samples.length + points) / frameSamples) + 1)
  const transform = new PairTransform()
  let greatest = Math.log10(energyMin)
  for (let frame = 0; frame < spoken; frame += 2) {
    transform.run(samples, frame, frames * frameSamples)
    for (let which = 0; which < 2 && frame + which < frames; which++) {
      for (let band = 0; band < melBands; band++) {
        const value = Math.log10(Math.max(energyMin, energyIn(band, transform.energies[which] as Float64Array)))
        greatest = Math.max(greatest, value)
        values[band * frames + frame + which] = value
      }
    }
  }
  for (let i = 0; i < values.length; i++) values[i] = (Math.max(values[i] as number, greatest - rangeBelow) + 4) / 4
  return values
}

/** Computes the energies in two neighbouring frames. */
class PairTransform {
  readonly energies = [new Float64Array(bins), new Float64Array(bins)] as const
  readonly #inReal = new Float64Array(points)
  readonly #inImaginary = new Float64Array(points)
  readonly #midReal = new Float64Array(points)
  readonly #midImaginary = new Float64Array(points)
  readonly #outReal = new Float64Array(points)
  readonly #outImaginary = new Float64Array(points)

  /** `length` is the whole window's length. Beyond both ends, the window's samples are mirrored. */
  run(samples: Float32Array, frame: number, length: number): void {
    const sampleAt = (at: number) => samples[at < 0 ? -at : at < length ? at : 2 * (length - 1) - at] ?? 0
    for (let j = 0; j < points; j++) {
      const at = frame * frameSamples + j - points / 2
      this.#inReal[j] = sampleAt(at) * (hann[j] as number)
      this.#inImaginary[j] = sampleAt(at + frameSamples) * (hann[j] as number)
    }
    this.#innerTransforms()
    this.#outerTransforms()
    this.#separate()
  }

  #innerTransforms(): void {
    for (let a = 0; a < outerPoints; a++) {
      for (let k = 0; k < innerPoints; k++) {
        let real = 0
        let imaginary = 0
        for (let b = 0; b < innerPoints; b++) {
          const turn = (b * k * outerPoints) % points
          const [c, s] = [cosine[turn] as number, sine[turn] as number]
          const [x, y] = [this.#inReal[b * outerPoints + a] as number, this.#inImaginary[b * outerPoints + a] as number]
          real += x * c - y * s
          imaginary += x * s + y * c
        }
        const [c, s] = [cosine[(a * k) % points] as number, sine[(a * k) % points] as number]
        this.#midReal[k * outerPoints + a] = real * c - imaginary * s
        this.#midImaginary[k * outerPoints + a] = real * s + imaginary * c
      }
    }
  }

  #outerTransforms(): void {
    for (let k = 0; k < innerPoints; k++) {
      for (let q = 0; q < outerPoints; q++) {
        let real = 0
        let imaginary = 0
        for (let a = 0; a < outerPoints; a++) {
          const turn = (a * q * innerPoints) % points
          const [c, s] = [cosine[turn] as number, sine[turn] as number]
          const [x, y] = [
            this.#midReal[k * outerPoints + a] as number,
            this.#midImaginary[k * outerPoints + a] as number,
          ]
          real += x * c - y * s
          imaginary += x * s + y * c
        }
        this.#outReal[k + innerPoints * q] = real
        this.#outImaginary[k + innerPoints * q] = imaginary
      }
    }
  }

  #separate(): void {
    for (let bin = 0; bin < bins; bin++) {
      const mirror = (points - bin) % points
      const [r, i] = [this.#outReal[bin] as number, this.#outImaginary[bin] as number]
      const [mirrorR, mirrorI] = [this.#outReal[mirror] as number, this.#outImaginary[mirror] as number]
      this.energies[0][bin] = ((r + mirrorR) ** 2 + (i - mirrorI) ** 2) / 4
      this.energies[1][bin] = ((i + mirrorI) ** 2 + (mirrorR - r) ** 2) / 4
    }
  }
}

const cosine = Float64Array.from({ length: points }, (_, k) => Math.cos((2 * Math.PI * k) / points))
const sine = Float64Array.from({ length: points }, (_, k) => -Math.sin((2 * Math.PI * k) / points))
const hann = Float64Array.from({ length: points }, (_, k) => 0.5 - 0.5 * Math.cos((2 * Math.PI * k) / points))

/** A triangular filter over neighbouring bins. */
type Band = { firstBin: number; weights: Float64Array }

const filters = melFilters()

function energyIn(band: number, energies: Float64Array): number {
  const { firstBin, weights } = filters[band] as Band
  let sum = 0
  for (let i = 0; i < weights.length; i++) sum += (energies[firstBin + i] as number) * (weights[i] as number)
  return sum
}

function melFilters(): Band[] {
  const top = melOf(speechRateHz / 2)
  const edges = Array.from({ length: melBands + 2 }, (_, i) => hertzOf((top * i) / (melBands + 1)))
  return Array.from({ length: melBands }, (_, band) => {
    const [low, middle, high] = edges.slice(band, band + 3) as [number, number, number]
    const weights = Array.from({ length: bins }, (_, bin) => {
      const hertz = (bin * speechRateHz) / points
      const height = Math.min((hertz - low) / (middle - low), (high - hertz) / (high - middle))
      return Math.max(0, height) * (2 / (high - low))
    })
    const firstBin = weights.findIndex((weight) => weight > 0)
    return { firstBin, weights: Float64Array.from(weights.filter((weight) => weight > 0)) }
  })
}

function melOf(hertz: number): number {
  if (hertz < linear.hertzMax) return hertz / linear.hertzPerMel
  return linear.melMax + Math.log(hertz / linear.hertzMax) / logarithmic
}

function hertzOf(mel: number): number {
  if (mel < linear.melMax) return mel * linear.hertzPerMel
  return linear.hertzMax * Math.exp((mel - linear.melMax) * logarithmic)
}
