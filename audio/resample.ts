/** Converts sample rates in streams, by libsamplerate (band-limited sinc, medium quality) compiled to WebAssembly. */
import libsamplerate from '@alexanderolsen/libsamplerate-js'
import { joinSamples } from './join.ts'

type Converter = Awaited<ReturnType<typeof libsamplerate.create>>

const quality = libsamplerate.ConverterType.SRC_SINC_MEDIUM_QUALITY
/** The library's buffers hold 1,008,000 values. A block and its result must be well below this size. */
const blockValuesMax = 100_000
/**
 * The maximum number of idle converters. A converter is a WebAssembly instance. Creating one takes 5 ms, so a few idle
 * converters are reused at new rates.
 */
const idleMax = 4
const idle: Converter[] = []

export type ResamplerShape = { channels: number; fromHz: number; toHz: number }

export class Resampler {
  readonly #converter: Converter
  readonly #channels: number
  readonly #ratio: number
  #framesIn = 0
  #framesOut = 0

  /** Creates a resampler, or reuses an idle converter. Rates are in Hz, up to 192,000. Call `close` when done. */
  static async create(shape: ResamplerShape): Promise<Resampler> {
    const converter = idle.pop()
    if (converter === undefined) {
      const options = { converterType: quality }
      return new Resampler(await libsamplerate.create(shape.channels, shape.fromHz, shape.toHz, options), shape)
    }
    converter.nChannels = shape.channels
    converter.outputSampleRate = shape.toHz
    // Each setter resets the filter. The ratio is computed only when the converter is created, so it is set here.
    converter.inputSampleRate = shape.fromHz
    converter.ratio = shape.toHz / shape.fromHz
    return new Resampler(converter, shape)
  }

  private constructor(converter: Converter, shape: ResamplerShape) {
    this.#converter = converter
    this.#channels = shape.channels
    this.#ratio = shape.toHz / shape.fromHz
  }

  /**
   * Takes interleaved frames and returns the output frames that are ready. Output is held back by the filter's length,
   * but the first output frame belongs to the first input frame.
   */
  process(samples: Float32Array): Float32Array {
    this.#framesIn += samples.length / this.#channels
    return this.#convert(samples)
  }

  /** Returns the samples still in the filter. With them the output is as long as the input. */
  flush(): Float32Array {
    const missing = Math.round(this.#framesIn * this.#ratio) - this.#framesOut
    // The library's interface cannot signal the input's end, so silence pushes the remaining samples out. 600 frames
    // are longer than the filter.
    const silence = new Float32Array((Math.ceil(missing / this.#ratio) + filterFrames(this.#ratio)) * this.#channels)
    return this.#convert(silence).slice(0, Math.max(0, missing) * this.#channels)
  }

  close(): void {
    if (idle.length < idleMax) idle.push(this.#converter)
    else this.#converter.destroy()
  }

  #convert(samples: Float32Array): Float32Array {
    const blockFrames = Math.floor(blockValuesMax / (this.#channels * Math.max(1, this.#ratio)))
    const blockValues = Math.max(1, blockFrames) * this.#channels
    const parts: Float32Array[] = []
    for (let at = 0; at < samples.length; at += blockValues) {
      parts.push(this.#converter.full(samples.subarray(at, at + blockValues)))
    }
    const converted = joinSamples(parts)
    this.#framesOut += converted.length / this.#channels
    return converted
  }
}

/**
 * Returns how many input frames the filter spans. If the output rate is lower, the filter spans proportionally more.
 */
function filterFrames(ratio: number): number {
  return Math.ceil(600 / Math.min(1, ratio))
}
