import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeDataDir, unwritableDataDir } from './data-dir.ts'

/** The process that serves a data folder, and its address. The command line finds it here. */
export type Instance = { pid: number; url: string }

const fileOf = (dataDir: string) => path.join(dataDir, 'parley.pid')

/**
 * Call it when the server is ready. Throws when the data folder cannot be written. The returned function removes the
 * file, unless another instance has replaced it.
 */
export function writePidFile(dataDir: string, url: string): () => void {
  makeDataDir(dataDir)
  try {
    writeFileSync(fileOf(dataDir), JSON.stringify({ pid: process.pid, url } satisfies Instance))
  } catch (cause) {
    throw unwritableDataDir(dataDir, cause)
  }
  return () => {
    if (readPidFile(dataDir)?.pid === process.pid) rmSync(fileOf(dataDir), { force: true })
  }
}

/** Null when no process has that number: a crash leaves the file behind. */
export function readPidFile(dataDir: string): Instance | null {
  try {
    const instance = JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as Instance
    process.kill(instance.pid, 0)
    return instance
  } catch {
    return null
  }
}

/** Sends SIGTERM and waits until the process is gone. The drain of that process bounds the wait. */
export async function endInstance({ pid }: Instance): Promise<void> {
  process.kill(pid, 'SIGTERM')
  while (isAlive(pid)) await sleep(50)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
