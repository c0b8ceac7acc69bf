/** Makes bytes for the tests in this folder: files as other programs write them, and bodies cut at any position. */
import type { Recording } from '../../audio/format.ts'
import { recogniseRecording } from '../../audio/recognise.ts'

/** Makes a RIFF file with the given chunks. `riffBytes` replaces the size in the RIFF header. */
export function riff(chunks: readonly [id: string, body: Uint8Array, size?: number][], riffBytes?: number): Uint8Array {
  const parts = chunks.flatMap(([id, body, size = body.length]) => [
    text(id),
    u32(size),
    body,
    new Uint8Array(body.length % 2),
  ])
  const content = bytes(text('WAVE'), ...parts)
  return bytes(text('RIFF'), u32(riffBytes ?? content.length), content)
}

export function fmt(
  tag: number,
  channels: number,
  rateHz: number,
  bits: number,
  extension: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const block = (channels * bits) / 8
  return bytes(u16(tag), u16(channels), u32(rateHz), u32(rateHz * block), u16(block), u16(bits), extension)
}

/**
 * Returns the extension of a WAV format chunk: its size, the valid bits, the speaker mask, and a GUID whose first two
 * bytes are `tag`.
 */
export function extensible(tag: number, validBits: number): Uint8Array {
  const guid = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
  return bytes(u16(22), u16(validBits), u32(0), u16(tag), Uint8Array.from(guid))
}

/** Cuts the body into pieces. The sizes are repeated until the body ends. */
export function cut(body: Uint8Array, ...sizes: number[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let at = 0, i = 0; at < body.length; i++) {
    const size = sizes[i % sizes.length]!
    chunks.push(body.subarray(at, at + size))
    at += size
  }
  return chunks
}

export function sine(hz: number, rateHz: number, seconds: number, channels = 1): Float32Array {
  return Float32Array.from({ length: rateHz * seconds * channels }, (_, i) => {
    return 0.5 * Math.sin((2 * Math.PI * hz * Math.floor(i / channels)) / rateHz)
  })
}

export function bytes(...parts: (Uint8Array | readonly number[])[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts.map((part) => Uint8Array.from(part))))
}

export function text(value: string): Uint8Array {
  return Uint8Array.from(value, (c) => c.charCodeAt(0))
}

export function u16(value: number): Uint8Array {
  return Uint8Array.of(value & 0xff, value >> 8)
}

export function u32(value: number): Uint8Array {
  return bytes(u16(value & 0xffff), u16(Math.floor(value / 65536)))
}

/** Recognizes a recording without a pause between the steps. */
export function recognised(...input: Parameters<typeof recogniseRecording>): Recording {
  const steps = recogniseRecording(...input)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
