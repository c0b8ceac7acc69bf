/**
 * Reads the RIFF header before streamed samples, because some servers send such a header. Its lengths are ignored,
 * because servers fill them with placeholders.
 */
import { ascii, u16le, u32le } from '../../audio/chunked-bytes.ts'
import type { OutputFormat } from '../../audio/format.ts'

export type StreamedWavHeader = { format: OutputFormat; dataOffset: number }

/**
 * Reads the header. Returns null if more bytes are needed. Throws RangeError if the bytes are not WAV, or if the sample
 * format is not supported.
 */
export function readStreamedWav(start: Uint8Array): StreamedWavHeader | null {
  if (start.length < 12) return null
  if (ascii(start, 0, 4) !== 'RIFF' || ascii(start, 8, 4) !== 'WAVE') throw new RangeError('no WAV')
  let format: OutputFormat | null = null
  for (let at = 12; at + 8 <= start.length; ) {
    const [name, bytes] = [ascii(start, at, 4), u32le(start, at + 4)]
    if (name === 'data') {
      if (!format) throw new RangeError('samples before their format')
      return { format, dataOffset: at + 8 }
    }
    if (name === 'fmt ') {
      if (at + 24 > start.length) return null
      format = readFormat(start, at + 8)
    }
    at += 8 + bytes + (bytes % 2)
  }
  return null
}

function readFormat(bytes: Uint8Array, at: number): OutputFormat {
  const encoding = encodings[`${u16le(bytes, at)}/${u16le(bytes, at + 14)}`]
  if (!encoding) throw new RangeError('samples of another kind')
  return { encoding, sampleRateHz: u32le(bytes, at + 4), channels: u16le(bytes, at + 2) }
}

/** The keys are the format tag (RFC 2361) and the bits per sample. */
const encodings: Partial<Record<string, OutputFormat['encoding']>> = {
  '1/16': 'pcm_s16le',
  '3/32': 'pcm_f32le',
  '6/8': 'alaw',
  '7/8': 'mulaw',
}
