import { readFileSync } from 'node:fs'
import { CommandError } from './command-error.ts'
import { pipe, readStdin } from './stdin.ts'

/** Reads the JSON object in a file, or on standard input if `file` is `-`. */
export async function readObject(file: string): Promise<Record<string, unknown>> {
  const text = file === pipe ? (await readStdin()).toString('utf8') : readText(file)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Invalid JSON falls through to the error below. It is also the error for JSON other than an object.
  }
  throw new CommandError(`${file} holds no JSON object`)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new CommandError(`${file} cannot be read (${(cause as NodeJS.ErrnoException).code})`)
  }
}
