/** The folder for the Unix sockets of all processes with the same data folder. A process listens under its name. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { makeDataDir } from '../../process/data-dir.ts'

/** A Unix socket's path has at most 107 bytes on Linux, and 103 on macOS. */
const pathBytesMax = 103
const suffix = '.sock'

export function socketPath(folder: string, name: string): string {
  return join(folder, name + suffix)
}

/**
 * Makes the folder, closed to other users. If the data folder's path is too long or the data folder is not writable,
 * the folder is in the temporary folder. If the temporary folder's path is too long as well, it is in /tmp.
 */
export function makeSocketFolder(dataDir: string, name: string): string {
  const folders = foldersOf(dataDir).filter((folder) => Buffer.byteLength(socketPath(folder, name)) <= pathBytesMax)
  const made = folders.find((folder, index) => makes(folder, index === folders.length - 1))
  if (made === undefined) throw new Error(`The path of the temporary folder ${tmpdir()} is too long for sockets.`)
  requireOurs(made)
  return made
}

/**
 * Makes the folder. If this fails, returns false, so the next candidate folder is tried. For the last candidate it
 * throws.
 */
function makes(folder: string, isLast: boolean): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return true
    if (isLast) throw error
    return false
  }
  return true
}

/** Thrown if the folder belongs to another user, or other users may enter it. */
export class ForeignFolderError extends Error {}

function requireOurs(folder: string): void {
  const stat = lstatSync(folder)
  // Any user can write to the temporary folder, so another user may have made a folder with this name.
  const isOurs = stat.isDirectory() && stat.uid === process.geteuid?.() && (stat.mode & 0o077) === 0
  if (isOurs) return
  throw new ForeignFolderError(`The folder ${folder} is not ours or is open to others: remove it and start again.`)
}

function foldersOf(dataDir: string): string[] {
  const real = realPathOf(dataDir)
  const temporary = `parley-${createHash('sha256').update(real).digest('hex').slice(0, 12)}-sockets`
  return [join(real, 'sockets'), join(tmpdir(), temporary), join('/tmp', temporary)]
}

/**
 * Returns the data folder's path without links. Makes the folder first, because with the deployer's Postgres the relay
 * may be its first user.
 */
function realPathOf(dataDir: string): string {
  try {
    makeDataDir(dataDir)
    return realpathSync(dataDir)
  } catch {
    return resolve(dataDir)
  }
}

/** Removes sockets without a listener: a killed process leaves its socket behind. */
export async function removeStale(folder: string): Promise<void> {
  const names = readdirSync(folder).filter((name) => name.endsWith(suffix))
  await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      if (await isRefused(path)) rmSync(path, { force: true })
    }),
  )
}

function isRefused(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const settle = (refused: boolean) => {
      socket.destroy()
      resolve(refused)
    }
    socket.once('connect', () => settle(false))
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code === 'ECONNREFUSED'))
  })
}
