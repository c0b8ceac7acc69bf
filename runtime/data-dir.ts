import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes the data folder with all that is missing above it. Throws an Error that names it. */
export function makeDataDir(dataDir: string): void {
  try {
    // As root the embedded Postgres runs as somebody else, who has to pass through; what is secret in here has a mode of its own.
    makeFolder(dataDir, process.geteuid?.() === 0 ? 0o711 : 0o700)
  } catch (cause) {
    throw new Error(`The data folder ${dataDir} cannot be made: choose another with PARLEY_DATA_DIR.`, { cause })
  }
}

/** Not by `recursive`: Node tries for ever where a folder that exists takes none, because /proc says of it that it does not exist. */
function makeFolder(folder: string, mode: number): void {
  if (isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) makeFolder(parent, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process was quicker.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
