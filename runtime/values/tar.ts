/**
 * Writes files as one tar archive in the ustar format (IEEE Std 1003.1-2024, pax, "ustar Interchange Format"). The
 * archive has only plain files in one folder, with names up to 100 ASCII characters.
 */

/** `size` is the byte count from `read`. The header contains `size`, so `size` is needed before the bytes. */
export type TarFile = { name: string; size: number; read: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array> }

const blockBytes = 512

/** Returns the archive's size in bytes and its bytes, which are read from the files piece by piece. */
export function tarOf(
  files: readonly TarFile[],
  changedAtMs: number,
): { size: number; bytes: AsyncIterable<Uint8Array> } {
  const sizes = files.map(({ size }) => blockBytes + size + paddingOf(size))
  return {
    size: sizes.reduce((sum, size) => sum + size, 2 * blockBytes),
    bytes: bytesOf(files, changedAtMs),
  }
}

async function* bytesOf(files: readonly TarFile[], changedAtMs: number): AsyncGenerator<Uint8Array> {
  for (const file of files) {
    yield headerOf(file, changedAtMs)
    yield* file.read()
    yield Buffer.alloc(paddingOf(file.size))
  }
  yield Buffer.alloc(2 * blockBytes)
}

/** Each file fills whole blocks. */
const paddingOf = (size: number) => (blockBytes - (size % blockBytes)) % blockBytes

function headerOf({ name, size }: TarFile, changedAtMs: number): Buffer {
  const header = Buffer.alloc(blockBytes)
  const write = (at: number, text: string) => header.write(text, at, 'latin1')
  const octal = (at: number, digits: number, value: number) => write(at, value.toString(8).padStart(digits, '0'))
  write(0, name)
  octal(100, 7, 0o600)
  octal(108, 7, 0)
  octal(116, 7, 0)
  octal(124, 11, size)
  octal(136, 11, Math.floor(changedAtMs / 1000))
  // The checksum sums the header's bytes, with blanks in the checksum's own place.
  write(148, ' '.repeat(8))
  write(156, '0')
  write(257, 'ustar\u000000')
  const sum = header.reduce((total, byte) => total + byte, 0)
  octal(148, 6, sum)
  write(154, '\u0000 ')
  return header
}
