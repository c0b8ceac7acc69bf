/**
 * Decompresses responses (RFC 9110 §8.4). Our requests do not ask for compression, but some servers compress anyway.
 */
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'

export type Body = { body: Uint8Array; isCut: boolean }

const unpackers: Readonly<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
}
const nothing = new Uint8Array(0)

/**
 * Returns the decompressed content, with at most `bytesMax` bytes. If the content is longer, truncated, damaged or in
 * an unsupported coding, it is left out, because compressed bytes are useless in a log and for a model.
 */
export function unpack(answer: Body, coding: string | undefined, bytesMax: number): Body {
  const name = coding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return answer
  const unpacker = Object.hasOwn(unpackers, name) ? unpackers[name] : undefined
  if (unpacker === undefined || answer.isCut) return { body: nothing, isCut: answer.isCut }
  try {
    return { body: unpacker(answer.body, { maxOutputLength: bytesMax }), isCut: false }
  } catch (error) {
    return { body: nothing, isCut: error instanceof RangeError }
  }
}
