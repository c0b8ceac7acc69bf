import { randomUUID } from 'node:crypto'
import { constants, copyFileSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Environment } from './config.ts'
import { makeDataDir, unwritableDataDir } from './data-dir.ts'

/** The key of a first local run, for the command line. */
export const localKeyFile = 'local.key'

/**
 * A secret of this data folder, readable by its owner alone. Made with `make` on the first call. Several processes that
 * call it at once agree on one secret. Throws when the folder cannot be written.
 */
export function localSecret(dataDir: string, name: string, make: () => string): string {
  const kept = readLocalSecret(dataDir, name)
  if (kept !== null) return kept
  makeDataDir(dataDir)
  const file = path.join(dataDir, name)
  // The whole file appears at once under its name, so that no process reads half a secret.
  const draft = `${file}.${randomUUID()}`
  try {
    writeFileSync(draft, `${make()}\n`, { mode: 0o600, flag: 'wx' })
    placeOnce(draft, file)
  } catch (cause) {
    throw unwritableDataDir(dataDir, cause)
  } finally {
    rmSync(draft, { force: true })
  }
  const secret = readLocalSecret(dataDir, name)
  if (secret === null) throw new Error(`${file} is empty or closed to this user: remove it and start again`)
  return secret
}

/** Null when this data folder has no such secret. */
export function readLocalSecret(dataDir: string, name: string): string | null {
  try {
    return readFileSync(path.join(dataDir, name), 'utf8').trim() || null
  } catch {
    return null
  }
}

export function removeLocalSecret(dataDir: string, name: string): void {
  rmSync(path.join(dataDir, name), { force: true })
}

/** Does nothing when the file exists. Some file systems have no hard links; there the file is copied. */
function placeOnce(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    copyFileSync(draft, file, constants.COPYFILE_EXCL)
  }
}

/** The key that commands send: the one of the environment, else that of a first local run. */
export function keyOf({ dataDir }: { dataDir: string }, env: Environment): string | null {
  return env['PARLEY_API_KEY'] ?? readLocalSecret(dataDir, localKeyFile)
}

/** The variable that holds the key of keyOf(), or `local` for the file of a first local run. */
export function keySourceOf(env: Environment): string {
  return env['PARLEY_API_KEY'] ? 'PARLEY_API_KEY' : 'local'
}
