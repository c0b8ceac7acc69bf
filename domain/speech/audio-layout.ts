import { FrameAligner, frameBytes, isSampleEncoding } from '../../audio/pcm.ts'
import type { StreamAudio } from './stt.ts'

/** Opus is timed at 48 kHz whatever it was made from (RFC 6716). */
const opusHz = 48_000
/** More than speech in Opus takes: it only bounds buffers. */
const opusBytesPerS = 16_000

/** How the bytes of a stream are whole samples and how long those last. An Opus packet is a frame by nature. */
class AudioLayout {
  /** What a second of this audio takes, for limits that are stated in time. */
  readonly bytesPerS: number
  readonly #rateHz: number
  /** Of one sample of every channel; 0 for packets. */
  readonly #frameBytes: number

  constructor({ encoding, sampleRateHz, channels }: StreamAudio) {
    this.#frameBytes = isSampleEncoding(encoding) ? frameBytes({ encoding, channels }) : 0
    this.#rateHz = this.#frameBytes > 0 ? sampleRateHz : opusHz
    this.bytesPerS = this.#frameBytes > 0 ? sampleRateHz * this.#frameBytes : opusBytesPerS
  }

  /** Whether nothing of it has to wait for the next chunk, as is so for nearly every one. */
  isWhole(chunk: Uint8Array): boolean {
    return this.#frameBytes === 0 || chunk.length % this.#frameBytes === 0
  }

  /** For a stream whose chunks are not whole. */
  aligner(): FrameAligner {
    return new FrameAligner(this.#frameBytes)
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

export type { AudioLayout }

const shared = new Map<string, AudioLayout>()
/** A client may ask for any rate: beyond so many the oldest makes room. */
const sharedMax = 64

/** One for all sessions of the same audio: what one session's frame reads of it, the frames of the others find in the processor's cache. */
export function layoutOf(audio: StreamAudio): AudioLayout {
  const key = `${audio.encoding} ${audio.sampleRateHz} ${audio.channels}`
  const known = shared.get(key)
  if (known) return known
  const layout = new AudioLayout(audio)
  if (shared.size >= sharedMax) shared.delete(shared.keys().next().value as string)
  shared.set(key, layout)
  return layout
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
