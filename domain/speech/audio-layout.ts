import { isOpusPacket, opusRateHz, packetSamples } from '../../audio/opus.ts'
import { FrameAligner, frameBytes, isSampleEncoding } from '../../audio/pcm.ts'
import type { StreamAudio } from '../ports/stt.ts'

/** Opus speech needs fewer bytes per second than this. The figure is used only to limit buffers. */
const opusBytesPerS = 16_000

/** Converts between bytes, samples and duration for a stream's audio. An Opus packet is always a whole frame. */
export class AudioLayout {
  /** The number of bytes in one second, for converting time limits to bytes. */
  readonly bytesPerS: number
  readonly #rateHz: number
  /** The number of bytes in one sample for all channels; 0 for Opus packets. */
  readonly #frameBytes: number

  constructor({ encoding, sampleRateHz, channels }: StreamAudio) {
    this.#frameBytes = isSampleEncoding(encoding) ? frameBytes({ encoding, channels }) : 0
    this.#rateHz = this.#frameBytes > 0 ? sampleRateHz : opusRateHz
    this.bytesPerS = this.#frameBytes > 0 ? sampleRateHz * this.#frameBytes : opusBytesPerS
  }

  /** Returns true if the chunk ends with a whole sample, as nearly all chunks do. */
  isWhole(chunk: Uint8Array): boolean {
    return this.#frameBytes === 0 || chunk.length % this.#frameBytes === 0
  }

  /** Makes an aligner for a stream whose chunks split samples. */
  aligner(): FrameAligner {
    return new FrameAligner(this.#frameBytes)
  }

  /** Returns a whole frame's length in samples. */
  samplesOf(frame: Uint8Array): number {
    return this.#frameBytes > 0 ? frame.length / this.#frameBytes : packetSamples(frame)
  }

  /** Returns false if the frame should be one Opus packet but is not valid. */
  isReadable(frame: Uint8Array): boolean {
    return this.#frameBytes > 0 || isOpusPacket(frame)
  }

  /**
   * Returns the frame's size for limits. A one-byte Opus packet can last 60 ms, and decoding takes time, so its
   * duration counts too.
   */
  weightOf(frame: Uint8Array): number {
    if (this.#frameBytes > 0) return frame.length
    return Math.max(frame.length, Math.ceil((this.msOf(packetSamples(frame)) * this.bytesPerS) / 1000))
  }

  msOf(samples: number): number {
    return (samples * 1000) / this.#rateHz
  }

  samplesIn(ms: number): number {
    return (ms * this.#rateHz) / 1000
  }
}
