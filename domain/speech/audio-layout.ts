import { isOpusPacket, opusRateHz, packetSamples } from '../../audio/opus.ts'
import { FrameAligner, frameBytes, isSampleEncoding } from '../../audio/pcm.ts'
import type { StreamAudio } from '../ports/stt.ts'

/** Speech in Opus takes less than this. The figure only bounds buffers. */
const opusBytesPerS = 16_000

/**
 * Converts between the bytes, the samples and the duration of a stream's audio. An Opus packet is always a whole frame.
 */
export class AudioLayout {
  /** The size of a second of this audio, for limits that are stated in time. */
  readonly bytesPerS: number
  readonly #rateHz: number
  /** The size of one sample of every channel; 0 for packets. */
  readonly #frameBytes: number

  constructor({ encoding, sampleRateHz, channels }: StreamAudio) {
    this.#frameBytes = isSampleEncoding(encoding) ? frameBytes({ encoding, channels }) : 0
    this.#rateHz = this.#frameBytes > 0 ? sampleRateHz : opusRateHz
    this.bytesPerS = this.#frameBytes > 0 ? sampleRateHz * this.#frameBytes : opusBytesPerS
  }

  /** Whether the chunk ends with a whole sample, as nearly every chunk does. */
  isWhole(chunk: Uint8Array): boolean {
    return this.#frameBytes === 0 || chunk.length % this.#frameBytes === 0
  }

  /** For a stream whose chunks are not whole. */
  aligner(): FrameAligner {
    return new FrameAligner(this.#frameBytes)
  }

  /** The length of a whole frame in samples. */
  samplesOf(frame: Uint8Array): number {
    return this.#frameBytes > 0 ? frame.length / this.#frameBytes : packetSamples(frame)
  }

  /** False for a frame that should be one Opus packet and is not. */
  isReadable(frame: Uint8Array): boolean {
    return this.#frameBytes > 0 || isOpusPacket(frame)
  }

  /** The bytes that a frame counts against limits: a packet of one byte can have 60 ms, which take time to decode. */
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
