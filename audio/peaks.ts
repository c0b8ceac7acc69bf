/**
 * Computes the peaks in 16-bit audio, in audiowaveform's format, version 2 (github.com/bbc/audiowaveform,
 * doc/DataFormat.md). Players draw a waveform from the peaks without the audio:
 *
 *   int32  version 2 | flags 1 (8 bits) | sample rate | samples per pixel | pixels | channels     (little-endian)
 *   int8   left: least sample, greatest sample | right: least, greatest                           for each pixel
 */
export type PeaksLayout = { sampleRateHz: number; samplesPerPixel: number; channels: number }

const version = 2
const flagOf8Bits = 1
const pixelsOffset = 16
export const peaksHeaderBytes = 24

export function peaksHeader({ sampleRateHz, samplesPerPixel, channels }: PeaksLayout, pixels: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(peaksHeaderBytes))
  const words = [version, flagOf8Bits, sampleRateHz, samplesPerPixel, pixels, channels]
  words.forEach((word, at) => {
    header.setInt32(at * 4, word, true)
  })
  return new Uint8Array(header.buffer)
}

/** Returns true if these bytes are complete peaks for this many audio frames. */
export function arePeaksOf(bytes: Uint8Array, layout: PeaksLayout, frames: number): boolean {
  const pixels = Math.ceil(frames / layout.samplesPerPixel)
  if (bytes.length !== peaksHeaderBytes + pixels * bytesPerPixel(layout)) return false
  return new DataView(bytes.buffer, bytes.byteOffset).getInt32(pixelsOffset, true) === pixels
}

const bytesPerPixel = ({ channels }: PeaksLayout) => 2 * channels

/** Turns audio, piece by piece, into complete pixels. */
export class PeakMeter {
  readonly #layout: PeaksLayout
  /** Each channel's least and greatest sample in the incomplete pixel. */
  readonly #least: Int16Array
  readonly #greatest: Int16Array
  #framesInPixel = 0
  #pixels = 0

  constructor(layout: PeaksLayout) {
    this.#layout = layout
    this.#least = new Int16Array(layout.channels)
    this.#greatest = new Int16Array(layout.channels)
    this.#begin()
  }

  /** The number of pixels returned so far. */
  get pixels(): number {
    return this.#pixels
  }

  /** Takes whole frames, with interleaved samples. Returns the completed pixels. */
  add(samples: Int16Array): Uint8Array {
    const { channels, samplesPerPixel } = this.#layout
    const frames = samples.length / channels
    const complete = Math.floor((this.#framesInPixel + frames) / samplesPerPixel)
    const pixels = new Int8Array(complete * bytesPerPixel(this.#layout))
    for (let frame = 0, pixel = 0; frame < frames; ) {
      const end = Math.min(frames, frame + samplesPerPixel - this.#framesInPixel)
      for (let channel = 0; channel < channels; channel++) this.#measure(samples, frame, end, channel)
      this.#framesInPixel += end - frame
      frame = end
      if (this.#framesInPixel === samplesPerPixel) this.#write(pixels, pixel++)
    }
    return new Uint8Array(pixels.buffer)
  }

  /** Returns the last pixel if it has less audio than the others. */
  end(): Uint8Array {
    if (this.#framesInPixel === 0) return new Uint8Array(0)
    const pixel = new Int8Array(bytesPerPixel(this.#layout))
    this.#write(pixel, 0)
    return new Uint8Array(pixel.buffer)
  }

  #measure(samples: Int16Array, from: number, end: number, channel: number): void {
    const { channels } = this.#layout
    let least = this.#least[channel]!
    let greatest = this.#greatest[channel]!
    for (let at = from * channels + channel; at < end * channels; at += channels) {
      const sample = samples[at]!
      if (sample < least) least = sample
      if (sample > greatest) greatest = sample
    }
    this.#least[channel] = least
    this.#greatest[channel] = greatest
  }

  #write(pixels: Int8Array, pixel: number): void {
    const { channels } = this.#layout
    for (let channel = 0; channel < channels; channel++) {
      const at = (pixel * channels + channel) * 2
      pixels[at] = this.#least[channel]! >> 8
      pixels[at + 1] = this.#greatest[channel]! >> 8
    }
    this.#pixels++
    this.#begin()
  }

  #begin(): void {
    this.#framesInPixel = 0
    this.#least.fill(32_767)
    this.#greatest.fill(-32_768)
  }
}
