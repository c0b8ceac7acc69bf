import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { readWav, type WavLayout } from '../../audio/wav.ts'

/**
 * True if the first frame begins with a RIFF/WAVE header. Speech samples practically never contain these eight bytes
 * there.
 */
export function startsAsWav(bytes: Uint8Array): boolean {
  return bytes.length >= 12 && spells(bytes, 0, 'RIFF') && spells(bytes, 8, 'WAVE')
}

/**
 * Null if the frame does not contain the whole header. The header's length is ignored, because a stream does not know
 * its length.
 */
export function readWavHeader(bytes: Uint8Array): Pick<WavLayout, 'format' | 'dataOffset'> | null {
  const data = dataOffset(bytes)
  if (data === null) return null
  const head = Uint8Array.from(bytes.subarray(0, data))
  // Streaming recorders write this value for an unknown length. The reader then takes the bytes that are there.
  head.fill(0xff, data - 4, data)
  return { format: readWav(new ChunkedBytes([head])).format, dataOffset: data }
}

function dataOffset(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 12; at + 8 <= bytes.length; at += 8 + view.getUint32(at + 4, true))
    if (spells(bytes, at, 'data')) return at + 8
  return null
}

function spells(bytes: Uint8Array, at: number, word: string): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) return false
  return true
}
