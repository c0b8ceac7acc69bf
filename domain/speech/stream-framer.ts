import { FrameAligner, frameBytes, isSampleEncoding } from '../../audio/pcm.ts'
import type { StreamAudio } from './stt-stream.ts'

/** Opus is timed at 48 kHz whatever it was made from (RFC 6716). */
const opusHz = 48_000
/** More than speech in Opus takes: it only bounds buffers. */
const opusBytesPerS = 16_000

/**
 * Cuts what a client sends into whole samples and counts their time. A chunk that is whole by itself, which nearly every one is, passes
 * through as it is. An Opus packet is a frame by nature.
 */
export class StreamFramer {
  /** What a second of this audio takes, for limits that are stated in time. */
  readonly bytesPerS: number
  readonly #rateHz: number
  /** Of one sample of every channel; 0 for packets. */
  readonly #frameBytes: number
  #aligner: FrameAligner | null = null
  /** Bytes that the aligner holds. */
  #oddBytes = 0

  constructor({ encoding, sampleRateHz, channels }: StreamAudio) {
    this.#frameBytes = isSampleEncoding(encoding) ? frameBytes({ encoding, channels }) : 0
    this.#rateHz = this.#frameBytes > 0 ? sampleRateHz : opusHz
    this.bytesPerS = this.#frameBytes > 0 ? sampleRateHz * this.#frameBytes : opusBytesPerS
  }

  /** The whole samples that there are now. Shares memory with `bytes` where it can. */
  whole(bytes: Uint8Array): Uint8Array {
    if (this.#frameBytes === 0 || (this.#oddBytes === 0 && bytes.length % this.#frameBytes === 0)) return bytes
    this.#aligner ??= new FrameAligner(this.#frameBytes)
    this.#oddBytes = (this.#oddBytes + bytes.length) % this.#frameBytes
    return this.#aligner.push(bytes)
  }

  /** How long a whole frame is, in samples. */
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

/** RFC 6716, 3.1 and 3.2: the first byte of a packet says how long its frames are, and mostly how many there are. */
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
