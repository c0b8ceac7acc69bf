import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes the data folder with its missing parents. Throws an Error with the folder's path. */
export function makeDataDir(dataDir: string): void {
  try {
    // Under root, the embedded Postgres runs as another user and must be able to enter. Secret files in the folder have
    // stricter modes.
    makeFolder(dataDir, process.geteuid?.() === 0 ? 0o711 : 0o700)
  } catch (cause) {
    throw new Error(`The data folder ${dataDir} cannot be made: choose another with PARLEY_DATA_DIR.`, { cause })
  }
}

/**
 * Makes the folder and its missing parents. mkdir's `recursive` is not used: Node retries for ever in a folder like
 * /proc, which exists and reports a new entry as not found.
 */
function makeFolder(folder: string, mode: number): void {
  if (isFolder(folder)) return
  const parent = dirname(folder)
  if (parent !== folder) makeFolder(parent, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process may have made the folder first.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Returns the error for a failed write into the data folder. */
export function unwritableDataDir(dataDir: string, cause: unknown): Error {
  return new Error(
    `The data folder ${dataDir} cannot be written: make it writable for the user that starts Parley, or choose another with PARLEY_DATA_DIR.`,
    { cause },
  )
}
