import { CommandError } from './command-error.ts'

/** The argument that means standard input or standard output. */
export const pipe = '-'

/** The maximum number of bytes from standard input, more than any recording that a server accepts. */
const stdinBytesMax = 512 * 1024 * 1024

export async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > stdinBytesMax) throw new CommandError(`standard input has more than ${stdinBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Returns the argument, or for `-` the text on standard input. */
export async function textOf(argument: string): Promise<string> {
  const text = argument === pipe ? (await readStdin()).toString('utf8').trim() : argument
  if (text === '') throw new CommandError('there is no text')
  return text
}
