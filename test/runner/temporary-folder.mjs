// The temporary folder of a run. It is in memory if the machine has much of that: tests make more than a thousand databases,
// and a disk takes most of the time of each.
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const inMemory = '/dev/shm'
/** A run takes up to 2 GiB. */
const freeBytesMin = 6 * 1024 ** 3

/** All that tests leave behind is removed with the folder. */
export function makeTemporaryFolder() {
  const folder = mkdtempSync(path.join(hasMemory() ? inMemory : os.tmpdir(), 'parley-run-'))
  // Accounts that some tests drop to pass through it, as through any temporary folder.
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
