import type { OutputFormat } from '../../audio/format.ts'
import { protocolError } from '../wire/failures.ts'
import { readStreamedWav } from '../wire/streamed-wav.ts'

export type Media = { format: OutputFormat; bytes: Buffer }

const headerBytesMax = 65_536

/** What follows the WAV header that `start` may begin with, in the format that the header tells. Null: more bytes are needed to know. ProviderError `protocol`. */
export function headerOf(start: Media): Media | null {
  const mark = start.bytes.subarray(0, riff.length)
  if (!riff.subarray(0, mark.length).equals(mark)) return start
  try {
    const header = readStreamedWav(start.bytes)
    if (header) return { format: header.format, bytes: start.bytes.subarray(header.dataOffset) }
  } catch (error) {
    throw error instanceof RangeError ? protocolError(error.message) : error
  }
  if (start.bytes.length > headerBytesMax) throw protocolError('no samples')
  return null
}

const riff = Buffer.from('RIFF')
