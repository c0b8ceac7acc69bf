/** The folder with the sockets of the processes that share a data folder. A process listens under its name. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The path of a Unix socket has at most 107 bytes on Linux, and 103 on macOS. */
const pathBytesMax = 103
const suffix = '.sock'

export function socketPath(folder: string, name: string): string {
  return join(folder, name + suffix)
}

/**
 * Makes the folder, which is closed to other users. If the path of the data folder is long, the folder is in the
 * temporary folder, or in /tmp if that has a long path too.
 */
export function makeSocketFolder(dataDir: string, name: string): string {
  const folder = folderOf(dataDir, name)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const stat = lstatSync(folder)
  // Anybody can write to the temporary folder, so a folder of that name may be a stranger's.
  const isOurs = stat.isDirectory() && stat.uid === process.geteuid?.() && (stat.mode & 0o077) === 0
  if (!isOurs) throw new Error(`The folder ${folder} is not ours or is open to others: remove it and start again.`)
  return folder
}

function folderOf(dataDir: string, name: string): string {
  const real = realpathSync(dataDir)
  const temporary = `parley-${createHash('sha256').update(real).digest('hex').slice(0, 12)}-sockets`
  const folders = [join(real, 'sockets'), join(tmpdir(), temporary), join('/tmp', temporary)]
  const fits = (folder: string) => Buffer.byteLength(socketPath(folder, name)) <= pathBytesMax
  return folders.find(fits) ?? join('/tmp', temporary)
}

/** A process that was killed leaves its socket behind. Nobody listens there. */
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
