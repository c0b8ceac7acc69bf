/**
 * Reads a tar archive in the ustar format (IEEE Std 1003.1-2024, pax, "ustar Interchange Format") that has plain files
 * in one folder only.
 */
import { CommandError } from './command-error.ts'

const blockBytes = 512
/** Each header field's offset and length in bytes. */
const fields = { name: [0, 100], size: [124, 12], checksum: [148, 8] } as const
const filesMax = 100

/** The files are views into `bytes`. Throws CommandError if the bytes are not an archive in this format. */
export function readTar(bytes: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  for (let at = 0; at + blockBytes <= bytes.length; ) {
    const header = bytes.subarray(at, at + blockBytes)
    if (header.every((byte) => byte === 0)) return files
    const size = readOctal(header, 'size')
    const isSound = readOctal(header, 'checksum') === checksumOf(header) && size <= bytes.length - at - blockBytes
    if (!isSound || files.size >= filesMax) break
    files.set(readText(header, 'name'), bytes.subarray(at + blockBytes, at + blockBytes + size))
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes
  }
  throw new CommandError('this is not a whole tar archive')
}

/** Returns the sum of the header's bytes, with blanks in place of the checksum. */
function checksumOf(header: Buffer): number {
  const [from, length] = fields.checksum
  return header.reduce((sum, byte, at) => sum + (at >= from && at < from + length ? 0x20 : byte), 0)
}

function readText(header: Buffer, field: keyof typeof fields): string {
  const [from, length] = fields[field]
  return header.toString('latin1', from, from + length).replace(/\0[^]*$/, '')
}

/** Reads a number. NaN if the field is not an octal number. */
function readOctal(header: Buffer, field: keyof typeof fields): number {
  const text = readText(header, field).trim()
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN
}
