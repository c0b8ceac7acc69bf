/**
 * Makes a request body from a recording: a file in a multipart form, or the recording as the whole body. The chunks are
 * sent without being joined.
 */
import { randomUUID } from 'node:crypto'
import type { Recording } from '../../audio/format.ts'
import { isSampleEncoding } from '../../audio/pcm.ts'
import { wavHeader } from '../../audio/wav.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Payload } from './http.ts'

export type Field = [name: string, value: string]

/**
 * Makes multipart/form-data. The recording is the last part, because gateways can then route by the fields while the
 * file still arrives.
 */
export function recordingForm(fields: readonly Field[], recording: Recording, fileField = 'file'): Payload {
  // The boundary is random, so that no recording contains it.
  const boundary = `parley-${randomUUID()}`
  const { name, type, chunks } = recordingFile(recording)
  const head = fields.map(([field, value]) => part(boundary, `name="${field}"`) + `\r\n${value}\r\n`).join('')
  const fileHead = `${part(boundary, `name="${fileField}"; filename="${name}"`)}Content-Type: ${type}\r\n\r\n`
  const body = [Buffer.from(head + fileHead), ...chunks, Buffer.from(`\r\n--${boundary}--\r\n`)]
  return { contentType: `multipart/form-data; boundary=${boundary}`, body }
}

/**
 * Returns the recording as a file. Adds a WAV header to raw samples; other formats stay unchanged. Throws ProviderError
 * `unsupported` for other raw encodings, such as Opus.
 */
export function recordingFile(recording: Recording): { name: string; type: string; chunks: readonly Uint8Array[] } {
  const { container, encoding, sampleRateHz, channels } = recording.format
  if (container !== 'raw') return { ...files[container], chunks: recording.chunks }
  if (!isSampleEncoding(encoding)) throw new ProviderError('unsupported', { sent: false, cause: `raw ${encoding}` })
  const header = wavHeader({ encoding, sampleRateHz, channels }, recording.dataBytes)
  return { ...files.wav, chunks: [header, ...samples(recording)] }
}

/** Returns the recording's samples as chunks: `dataBytes` bytes, beginning at `dataOffset`. */
function samples({ chunks, dataOffset, dataBytes }: Recording): Uint8Array[] {
  const list: Uint8Array[] = []
  let skip = dataOffset
  let left = dataBytes
  for (const chunk of chunks) {
    const piece = chunk.subarray(Math.min(skip, chunk.length), Math.min(skip, chunk.length) + left)
    skip -= Math.min(skip, chunk.length)
    left -= piece.length
    if (piece.length > 0) list.push(piece)
  }
  return list
}

const part = (boundary: string, disposition: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`

/** The file names and media types for each format. Servers read the format from the file name. */
const files = {
  wav: { name: 'audio.wav', type: 'audio/wav' },
  flac: { name: 'audio.flac', type: 'audio/flac' },
  ogg: { name: 'audio.ogg', type: 'audio/ogg' },
  mp3: { name: 'audio.mp3', type: 'audio/mpeg' },
  webm: { name: 'audio.webm', type: 'audio/webm' },
  mp4: { name: 'audio.m4a', type: 'audio/mp4' },
  aac: { name: 'audio.aac', type: 'audio/aac' },
} as const
