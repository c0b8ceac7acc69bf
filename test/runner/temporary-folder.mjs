// The run's temporary folder. It is in memory if the machine has enough memory, because tests make more than a thousand
// databases and most of each database's time is spent on the disk.
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const inMemory = '/dev/shm'
/** A run takes up to 2 GiB, so memory with less free space is not used. */
const freeBytesMin = 6 * 1024 ** 3

/** Makes the folder. Files that tests leave in it are removed with it. */
export function makeTemporaryFolder() {
  const folder = mkdtempSync(path.join(hasMemory() ? inMemory : os.tmpdir(), 'parley-run-'))
  // Some tests switch to another account, which must pass through the folder, as through any temporary folder.
  chmodSync(folder, 0o711)
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function hasMemory() {
  try {
    accessSync(inMemory, constants.W_OK)
    const { bavail, bsize } = statfsSync(inMemory)
    return Math.min(bavail * bsize, os.freemem()) >= freeBytesMin
  } catch {
    return false
  }
}
