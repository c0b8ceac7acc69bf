/** Reads a client's engine, the files that are written by hand and copied into the generated client. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '../..')

/**
 * Returns the engine's files, sorted by their paths below `folder`. The version 0.0.0 in them becomes the version in
 * package.json.
 */
export function readEngine(folder: string): { path: string; text: string }[] {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => ({
      path: file.slice(folder.length + 1),
      text: readFileSync(file, 'utf8').replaceAll('0.0.0', version),
    }))
}

/** The licence, which each client has. */
export const licence = () => readFileSync(join(repository, 'LICENSE'), 'utf8')
