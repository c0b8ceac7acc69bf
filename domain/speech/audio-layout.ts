import { FrameAligner, frameBytes, isSampleEncoding } from '../../audio/pcm.ts'
import type { StreamAudio } from './stt.ts'

/** Opus is timed at 48 kHz, also when it was encoded from another rate (RFC 6716). */
const opusHz = 48_000
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
    this.#rateHz = this.#frameBytes > 0 ? sampleRateHz : opusHz
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
    return this.#frameBytes > 0 ? frame.length / this.#frameBytes : opusSamples(frame)
  }

  msOf(samples: number): number {
    return (samples * 1000) / this.#rateHz
  }

  samplesIn(ms: number): number {
    return (ms * this.#rateHz) / 1000
  }
}

/**
 * RFC 6716, 3.1 and 3.2: the first byte of a packet encodes the length of its frames and, in most packets, their
 * number.
 */
function opusSamples(packet: Uint8Array): number {
  const [toc = 0, count = 0] = packet
  if (packet.length === 0) return 0
  const frames = [1, 2, 2, count & 63][toc & 3] ?? 1
  return frames * opusFrameSamples(toc >> 3)
}

function opusFrameSamples(config: number): number {
  if (config < 12) return [480, 960, 1920, 2880][config & 3] ?? 0
  if (config < 16) return config & 1 ? 960 : 480
  return 120 << (config & 3)
}
