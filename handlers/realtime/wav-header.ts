import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { readWav, type WavLayout } from '../../audio/wav.ts'

/** Whether a first frame of samples begins with a RIFF/WAVE header. Four bytes of speech never spell it. */
export function startsAsWav(bytes: Uint8Array): boolean {
  return bytes.length >= 12 && spells(bytes, 0, 'RIFF') && spells(bytes, 8, 'WAVE')
}

/** Null when the header is not whole within the frame. A stream does not know its length, so what the header says of it is not believed. */
export function readWavHeader(bytes: Uint8Array): Pick<WavLayout, 'format' | 'dataOffset'> | null {
  const data = dataOffset(bytes)
  if (data === null) return null
  const head = Uint8Array.from(bytes.subarray(0, data))
  // A length that is not known, as recorders that stream write it: the reader then takes what is there.
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
