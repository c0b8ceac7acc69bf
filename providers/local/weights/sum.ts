import { createHash } from 'node:crypto'

/** Throws Error if the bytes have another SHA-256 checksum. The message has the file's name. */
export function requireSum(file: string, bytes: Uint8Array, expected: string | undefined): void {
  const actual = createHash('sha256').update(bytes).digest('hex')
  if (actual !== expected) throw new Error(`${file} has sha256 ${actual}, not ${expected}`)
}
