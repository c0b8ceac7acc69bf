/**
 * WAV files with 64-bit floats, the default format in many scientific programs. No provider promises to read them, so
 * they are converted to 32-bit floats on arrival. A 32-bit float is more precise than any microphone.
 */
import type { ChunkedBytes } from './chunked-bytes.ts'
import { FrameAligner } from './pcm.ts'
import type { Steps } from './steps.ts'
import { type WavLayout, wavHeader } from './wav.ts'

const wideBytes = 8
const bytesPerStep = 1 << 16

export type Narrowed = { chunks: readonly Uint8Array[]; bytes: number; dataOffset: number; dataBytes: number }

/** Returns a whole WAV file with the same samples as 32-bit floats. */
export function* narrowed(bytes: ChunkedBytes, { format, dataOffset, dataBytes }: WavLayout): Steps<Narrowed> {
  const header = wavHeader(format, dataBytes / 2)
  const chunks = [header]
  const aligner = new FrameAligner(wideBytes)
  for (const piece of bytes.pieces(dataOffset, dataOffset + dataBytes, bytesPerStep)) {
    chunks.push(halved(aligner.push(piece)))
    yield
  }
  return { chunks, bytes: header.length + dataBytes / 2, dataOffset: header.length, dataBytes: dataBytes / 2 }
}

function halved(wide: Uint8Array): Uint8Array {
  const from = new DataView(wide.buffer, wide.byteOffset, wide.byteLength)
  const narrow = new Uint8Array(wide.length / 2)
  const to = new DataView(narrow.buffer)
  for (let at = 0; at < wide.length; at += wideBytes) to.setFloat32(at / 2, from.getFloat64(at, true), true)
  return narrow
}
