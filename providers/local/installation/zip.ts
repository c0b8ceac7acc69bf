/**
 * Reads one file from a zip archive, such as a Python wheel. The archive must have no comment at its end and must be
 * smaller than 4 GB, as wheels are.
 *
 *   files … | directory: one entry for each file | end: 22 bytes, with the directory's position
 */
import { inflateRawSync } from 'node:zlib'

const endBytes = 22
const endSignature = 0x06054b50
const entrySignature = 0x02014b50
const entryBytes = 46
const fileHeadBytes = 30
const methods = { stored: 0, deflated: 8 }
/** The largest file that is read. */
const fileBytesMax = 256 * 1024 * 1024

/** Returns the content of one file. Throws Error if the archive is damaged or has no such file. */
export function fileInZip(archive: Buffer, wanted: string): Buffer {
  const end = archive.subarray(-endBytes)
  if (end.length < endBytes || end.readUInt32LE(0) !== endSignature) throw new Error('this is not a whole zip archive')
  let at = end.readUInt32LE(16)
  for (let count = end.readUInt16LE(10); count > 0; count--) {
    const entry = archive.subarray(at)
    if (entry.length < entryBytes || entry.readUInt32LE(0) !== entrySignature) throw new Error('the archive is damaged')
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((place) => entry.readUInt16LE(place)) as Triple
    if (entry.toString('utf8', entryBytes, entryBytes + nameBytes) === wanted) return contentOf(archive, entry)
    at += entryBytes + nameBytes + extraBytes + commentBytes
  }
  throw new Error(`the archive has no file ${wanted}`)
}

type Triple = [number, number, number]

function contentOf(archive: Buffer, entry: Buffer): Buffer {
  const method = entry.readUInt16LE(10)
  const [packedBytes, bytes, place] = [20, 24, 42].map((at) => entry.readUInt32LE(at)) as Triple
  if (bytes > fileBytesMax) throw new Error(`the archive declares a file of ${bytes} bytes`)
  const head = archive.subarray(place, place + fileHeadBytes)
  const from = place + fileHeadBytes + head.readUInt16LE(26) + head.readUInt16LE(28)
  const packed = archive.subarray(from, from + packedBytes)
  if (method === methods.stored) return packed
  if (method === methods.deflated) return inflateRawSync(packed, { maxOutputLength: fileBytesMax })
  throw new Error(`the archive packs a file by the method ${method}`)
}
