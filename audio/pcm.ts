/** Converts samples between bytes and numbers from -1 to 1. A chunk needs one array, a sample needs no allocation. */
import type { Encoding } from './format.ts'
import { alawToLinear, linearToAlaw, linearToMulaw, mulawToLinear } from './g711.ts'

export const sampleEncodings = {
  pcm_u8: { bytes: 1 },
  pcm_s16le: { bytes: 2 },
  pcm_s24le: { bytes: 3 },
  pcm_s32le: { bytes: 4 },
  pcm_f32le: { bytes: 4 },
  mulaw: { bytes: 1 },
  alaw: { bytes: 1 },
} as const satisfies Partial<Record<Encoding, { bytes: number }>>

/** The encodings with plain sequences of samples. All other encodings are compressed. */
export type SampleEncoding = keyof typeof sampleEncodings

export function isSampleEncoding(encoding: string): encoding is SampleEncoding {
  return Object.hasOwn(sampleEncodings, encoding)
}

/** Returns the bytes in one frame: one sample for each channel. */
export function frameBytes(format: { encoding: SampleEncoding; channels: number }): number {
  return sampleEncodings[format.encoding].bytes * format.channels
}

export function bytesPerMs(format: { encoding: SampleEncoding; sampleRateHz: number; channels: number }): number {
  return (frameBytes(format) * format.sampleRateHz) / 1000
}

/** Returns the byte for silence. Zero is 0xff in mu-law and 0xd5 in A-law (G.711 tables 1a and 2a). */
export function silenceByte(encoding: SampleEncoding): number {
  if (encoding === 'mulaw') return 0xff
  if (encoding === 'alaw') return 0xd5
  return encoding === 'pcm_u8' ? 0x80 : 0
}

/** Cuts a stream into whole frames. Chunks may have any size; an incomplete frame waits for the next chunk. */
export class FrameAligner {
  readonly #frame: Uint8Array
  #pendingBytes = 0

  constructor(bytesPerFrame: number) {
    this.#frame = new Uint8Array(bytesPerFrame)
  }

  /** Returns the whole frames so far. They share memory with `chunk` if no incomplete frame was waiting. */
  push(chunk: Uint8Array): Uint8Array {
    const available = this.#pendingBytes + chunk.length
    const whole = available - (available % this.#frame.length)
    if (whole === 0) return this.#hold(chunk, new Uint8Array(0))
    const consumed = whole - this.#pendingBytes
    const rest = chunk.subarray(consumed)
    if (this.#pendingBytes === 0) return this.#hold(rest, chunk.subarray(0, consumed))
    const frames = new Uint8Array(whole)
    frames.set(this.#frame.subarray(0, this.#pendingBytes))
    frames.set(chunk.subarray(0, consumed), this.#pendingBytes)
    this.#pendingBytes = 0
    return this.#hold(rest, frames)
  }

  #hold(rest: Uint8Array, frames: Uint8Array): Uint8Array {
    this.#frame.set(rest, this.#pendingBytes)
    this.#pendingBytes += rest.length
    return frames
  }
}

/** Decodes whole samples to one number each; channels stay interleaved. */
export function decodeSamples(bytes: Uint8Array, encoding: SampleEncoding): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const samples = new Float32Array(bytes.length / sampleEncodings[encoding].bytes)
  decoders[encoding](view, samples)
  return samples
}

/** Encodes the samples. Values beyond -1 and 1 are clipped, except in `pcm_f32le`, because floats can hold them. */
export function encodeSamples(samples: Float32Array, encoding: SampleEncoding): Uint8Array {
  const bytes = new Uint8Array(samples.length * sampleEncodings[encoding].bytes)
  encoders[encoding](samples, new DataView(bytes.buffer))
  return bytes
}

/**
 * Converts interleaved frames from `from` to `to` channels: to fewer channels by averaging, to more channels by
 * copying.
 */
export function convertChannels(samples: Float32Array, from: number, to: number): Float32Array {
  if (from === to) return samples
  if (to === 1) return downmix(samples, from)
  if (from === 1) return duplicate(samples, to)
  return duplicate(downmix(samples, from), to)
}

/** Mixes planar channels, as decoders return them, to mono. */
export function downmixPlanar(channels: readonly Float32Array[]): Float32Array {
  const first = channels[0]
  if (first === undefined || channels.length === 1) return first ?? new Float32Array(0)
  const mono = new Float32Array(first.length)
  for (const channel of channels) {
    for (let i = 0; i < mono.length; i++) mono[i] = mono[i]! + channel[i]! / channels.length
  }
  return mono
}

function downmix(samples: Float32Array, channels: number): Float32Array {
  const mono = new Float32Array(Math.floor(samples.length / channels))
  for (let frame = 0, at = 0; frame < mono.length; frame++) {
    let sum = 0
    for (let channel = 0; channel < channels; channel++) sum += samples[at++]!
    mono[frame] = sum / channels
  }
  return mono
}

function duplicate(mono: Float32Array, channels: number): Float32Array {
  const frames = new Float32Array(mono.length * channels)
  for (let frame = 0, at = 0; frame < mono.length; frame++) {
    for (let channel = 0; channel < channels; channel++) frames[at++] = mono[frame]!
  }
  return frames
}

const decoders: Record<SampleEncoding, (from: DataView, to: Float32Array) => void> = {
  pcm_u8: (from, to) => {
    for (let i = 0; i < to.length; i++) to[i] = (from.getUint8(i) - 128) / 128
  },
  pcm_s16le: (from, to) => {
    for (let i = 0; i < to.length; i++) to[i] = from.getInt16(2 * i, true) / 32768
  },
  pcm_s24le: (from, to) => {
    for (let i = 0; i < to.length; i++)
      to[i] = (from.getUint16(3 * i, true) + from.getInt8(3 * i + 2) * 65536) / 8388608
  },
  pcm_s32le: (from, to) => {
    for (let i = 0; i < to.length; i++) to[i] = from.getInt32(4 * i, true) / 2147483648
  },
  pcm_f32le: (from, to) => {
    // NaN and infinities are replaced, because they would spread through every later filter.
    for (let i = 0; i < to.length; i++) {
      const value = from.getFloat32(4 * i, true)
      to[i] = Number.isFinite(value) ? value : 0
    }
  },
  mulaw: (from, to) => {
    for (let i = 0; i < to.length; i++) to[i] = mulawToLinear[from.getUint8(i)]! / 32768
  },
  alaw: (from, to) => {
    for (let i = 0; i < to.length; i++) to[i] = alawToLinear[from.getUint8(i)]! / 32768
  },
}

const encoders: Record<SampleEncoding, (from: Float32Array, to: DataView) => void> = {
  pcm_u8: (from, to) => {
    for (let i = 0; i < from.length; i++) to.setUint8(i, quantise(from[i]!, 128) + 128)
  },
  pcm_s16le: (from, to) => {
    for (let i = 0; i < from.length; i++) to.setInt16(2 * i, quantise(from[i]!, 32768), true)
  },
  pcm_s24le: (from, to) => {
    for (let i = 0; i < from.length; i++) {
      const value = quantise(from[i]!, 8388608)
      to.setUint16(3 * i, value & 0xffff, true)
      to.setInt8(3 * i + 2, value >> 16)
    }
  },
  pcm_s32le: (from, to) => {
    for (let i = 0; i < from.length; i++) to.setInt32(4 * i, quantise(from[i]!, 2147483648), true)
  },
  pcm_f32le: (from, to) => {
    for (let i = 0; i < from.length; i++) to.setFloat32(4 * i, from[i]!, true)
  },
  mulaw: (from, to) => {
    for (let i = 0; i < from.length; i++) to.setUint8(i, linearToMulaw(quantise(from[i]!, 32768)))
  },
  alaw: (from, to) => {
    for (let i = 0; i < from.length; i++) to.setUint8(i, linearToAlaw(quantise(from[i]!, 32768)))
  },
}

/** Rounds and clips a value. `full` is one more than the greatest code, so a decoded sample encodes to itself. */
function quantise(value: number, full: number): number {
  return Math.max(-full, Math.min(full - 1, Math.round(value * full)))
}
