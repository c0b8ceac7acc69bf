import { statSync } from 'node:fs'
import path from 'node:path'
import { UsageError } from './command-error.ts'

/** Throws UsageError if the file cannot be written, because its folder is missing or because it is a folder. */
export function requirePlace(option: string, file: string): void {
  const folder = path.dirname(file)
  if (!isFolder(folder)) throw new UsageError(`${option}: there is no folder ${folder}`)
  if (isFolder(file)) throw new UsageError(`${option}: ${file} is a folder; name a file`)
}

const isFolder = (name: string) => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true
