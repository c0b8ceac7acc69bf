/** Audio encodings on phone lines, as RTP payloads (RFC 3551): G.711, and L16 with big-endian samples. */
import { alawToLinear, linearToAlaw, linearToMulaw, mulawToLinear } from './g711.ts'

/** `decode` and `encode` write to the calling code's arrays, so a frame needs no allocation. */
export type LineCodec = {
  readonly bytesPerSample: 1 | 2
  /**
   * Decodes the first `bytesCount` bytes to the start of `samples` and returns the sample count. An incomplete last
   * sample is dropped.
   */
  decode(bytes: Uint8Array, bytesCount: number, samples: Int16Array): number
  /** Encodes all samples to the start of `bytes` and returns the byte count. */
  encode(samples: Int16Array, bytes: Uint8Array): number
}

export const pcmu: LineCodec = {
  bytesPerSample: 1,
  decode(bytes, bytesCount, samples) {
    for (let at = 0; at < bytesCount; at++) samples[at] = mulawToLinear[bytes[at]!]!
    return bytesCount
  },
  encode(samples, bytes) {
    for (let at = 0; at < samples.length; at++) bytes[at] = linearToMulaw(samples[at]!)
    return samples.length
  },
}

export const pcma: LineCodec = {
  bytesPerSample: 1,
  decode(bytes, bytesCount, samples) {
    for (let at = 0; at < bytesCount; at++) samples[at] = alawToLinear[bytes[at]!]!
    return bytesCount
  },
  encode(samples, bytes) {
    for (let at = 0; at < samples.length; at++) bytes[at] = linearToAlaw(samples[at]!)
    return samples.length
  },
}

export const l16: LineCodec = {
  bytesPerSample: 2,
  decode(bytes, bytesCount, samples) {
    const count = bytesCount >> 1
    for (let at = 0; at < count; at++) samples[at] = (bytes[2 * at]! << 8) | bytes[2 * at + 1]!
    return count
  },
  encode(samples, bytes) {
    for (let at = 0; at < samples.length; at++) {
      const sample = samples[at]!
      bytes[2 * at] = sample >> 8
      bytes[2 * at + 1] = sample
    }
    return 2 * samples.length
  },
}
