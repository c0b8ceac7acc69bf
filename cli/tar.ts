/**
 * Several files in one tar archive, in the ustar format (IEEE Std 1003.1-2024, pax, "ustar Interchange Format"). The
 * archive has plain files in one folder only.
 */
import { CommandError } from './command-error.ts'

export type FileEntry = { name: string; bytes: Uint8Array }

const blockBytes = 512
/** Each header field's offset and length in bytes. */
const fields = {
  name: [0, 100],
  mode: [100, 8],
  owner: [108, 8],
  group: [116, 8],
  size: [124, 12],
  changed: [136, 12],
  checksum: [148, 8],
  kind: [156, 1],
  magic: [257, 8],
} as const
const filesMax = 100

export function writeTar(entries: readonly FileEntry[], changedAt: Date): Buffer {
  const blocks = entries.flatMap(({ name, bytes }) => [
    headerOf(name, bytes.length, changedAt),
    bytes,
    Buffer.alloc(-bytes.length & (blockBytes - 1)),
  ])
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)])
}

/**
 * Reads an archive. The files are views into `bytes`. Throws CommandError if the bytes are not an archive in this
 * format.
 */
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

function headerOf(name: string, size: number, changedAt: Date): Buffer {
  const header = Buffer.alloc(blockBytes)
  const write = (field: keyof typeof fields, text: string) => header.write(text, fields[field][0], 'latin1')
  const octal = (field: keyof typeof fields, value: number) =>
    write(field, value.toString(8).padStart(fields[field][1] - 1, '0'))
  write('name', name)
  octal('mode', 0o600)
  octal('owner', 0)
  octal('group', 0)
  octal('size', size)
  octal('changed', Math.floor(changedAt.getTime() / 1000))
  write('kind', '0')
  write('magic', 'ustar\u000000')
  write('checksum', `${checksumOf(header).toString(8).padStart(6, '0')}\u0000 `)
  return header
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
