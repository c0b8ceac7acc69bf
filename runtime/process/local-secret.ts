import { randomUUID } from 'node:crypto'
import { constants, copyFileSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Environment } from './config.ts'
import { makeDataDir, unwritableDataDir } from './data-dir.ts'

/** The file with the API key from a first local run. The command line reads it. */
export const localKeyFile = 'local.key'

/**
 * Returns the data folder's secret with this name, readable only by its owner. The first call creates it with `make`.
 * If several processes call it at once, all get the same secret. Throws if the folder cannot be written.
 */
export function localSecret(dataDir: string, name: string, make: () => string): string {
  const existing = readLocalSecret(dataDir, name)
  if (existing !== null) return existing
  makeDataDir(dataDir)
  const file = path.join(dataDir, name)
  // The whole file appears at once under its name, so no process reads half a secret.
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

/** Reads a secret. Null if the data folder has no such secret. */
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

/**
 * Puts the draft under the file's name. Does nothing if the file exists. On file systems without hard links the draft
 * is copied.
 */
function placeOnce(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    copyFileSync(draft, file, constants.COPYFILE_EXCL)
  }
}

/** Returns the API key for commands: from the environment, else from a first local run. */
export function keyOf({ dataDir }: { dataDir: string }, env: Environment): string | null {
  return env['PARLEY_API_KEY'] || readLocalSecret(dataDir, localKeyFile)
}

/** Returns the source of keyOf(): the variable's name, or `local` for a first local run's file. */
export function keySourceOf(env: Environment): string {
  return env['PARLEY_API_KEY'] ? 'PARLEY_API_KEY' : 'local'
}
